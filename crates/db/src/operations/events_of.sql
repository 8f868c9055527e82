-- db::operations::events_of
-- An event that could not be read when it came names no resource: those of its effects are found by their id.
with wanted as materialized (
    (select e.event_id
       from ordem_engine.inbox_events e
      where e.resource_id = $3::text and e.source = $1::text and e.kind = $2::text
      order by e.event_id desc
      limit $5::int8)
    union
    select event_id from unnest($4::uuid[]) as row (event_id)
)
select e.event_id, e.dedup_key, e.event_type, e.origin, e.received_at, e.headers, e.body, o.outcome, o.reason,
       o.status_from, o.status_to, o.applied_at, coalesce(o.attempts, r.attempts, 0) as attempts, r.due_at, r.last_error,
       q.event_id is not null as is_queued
  from wanted
  join ordem_engine.inbox_events e on e.event_id = wanted.event_id
  left join ordem_engine.inbox_outcomes o on o.event_id = wanted.event_id
  left join ordem_engine.inbox_retries r on r.event_id = wanted.event_id
  left join ordem_engine.inbox_queue q on q.event_id = wanted.event_id
 order by e.received_at, e.event_id
