-- db::operations::list_events
select event_id, source, dedup_key, event_type, kind, resource_id, origin, received_at, applied_at,
       coalesce(outcome, 'pending') as outcome, attempts, last_error
  from ordem.events
 where event_id >= $1::uuid
   and ($2::text is null or source = $2::text)
   and ($3::text is null or coalesce(outcome, 'pending') = $3::text)
 order by event_id desc
 limit $4::int8
