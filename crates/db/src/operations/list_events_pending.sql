-- db::operations::list_events: what waits, found in the queues
select e.event_id, e.source, e.dedup_key, e.event_type, e.kind, e.resource_id, e.origin, e.received_at, e.applied_at,
       coalesce(e.outcome, 'pending') as outcome, e.attempts, e.last_error
  from (select event_id from ordem_engine.inbox_queue
        union all
        select event_id from ordem_engine.inbox_retries) waiting
  join ordem.events e on e.event_id = waiting.event_id
 where waiting.event_id >= $1::uuid
   and ($2::text is null or e.source = $2::text)
 order by waiting.event_id desc
 limit $3::int8
