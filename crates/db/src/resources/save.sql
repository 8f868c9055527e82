-- db::resources::save
insert into ordem_engine.resources
    (source, kind, id, status, version_major, version_rank, history, fields, field_versions, effects_written,
     next_effect, created_at, updated_at)
select source, kind, id, status, version_major, version_rank, history, fields, field_versions, effects_written,
       next_effect, $12::timestamptz, $12::timestamptz
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::int2[], $7::jsonb[], $8::jsonb[],
              $9::jsonb[], $10::jsonb[], $11::int4[])
    as row (source, kind, id, status, version_major, version_rank, history, fields, field_versions, effects_written,
            next_effect)
on conflict (source, kind, id) do update
   set status = excluded.status,
       version_major = excluded.version_major,
       version_rank = excluded.version_rank,
       history = excluded.history,
       fields = excluded.fields,
       field_versions = excluded.field_versions,
       effects_written = excluded.effects_written,
       next_effect = excluded.next_effect,
       updated_at = excluded.updated_at
