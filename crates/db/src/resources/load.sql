-- db::resources::load
select wanted.source, wanted.kind, wanted.id, row.status, row.version_major, row.version_rank, row.history,
       row.fields, row.field_versions, row.effects_written, row.next_effect
  from unnest($1::text[], $2::text[], $3::text[]) as wanted (source, kind, id)
 cross join lateral (
      select r.status, r.version_major, r.version_rank, r.history, r.fields, r.field_versions, r.effects_written,
             r.next_effect
        from ordem_engine.resources r
       where r.source = wanted.source and r.kind = wanted.kind and r.id = wanted.id
      offset 0
  ) row
