-- db::inbox::claim_these
with queued as (
    delete from ordem_engine.inbox_queue
     where event_id = any (array(
           select event_id from ordem_engine.inbox_queue where event_id = any ($1::uuid[]) for update skip locked))
    returning event_id
), retried as (
    delete from ordem_engine.inbox_retries
     where event_id = any (array(
           select event_id from ordem_engine.inbox_retries where event_id = any ($1::uuid[]) for update skip locked))
    returning event_id, attempts
), taken as (
    select event_id, 0 as attempts from queued
    union all
    select event_id, attempts from retried
)
select taken.event_id, taken.attempts, event.source, event.dedup_key, event.event_type, event.origin,
       event.received_at, event.headers, event.body,
       answer.event_id is not null as is_answered, answer.body as answer, answer.reason
  from taken
 cross join lateral (
      select e.source, e.dedup_key, e.event_type, e.origin, e.received_at, e.headers, e.body
        from ordem_engine.inbox_events e
       where e.event_id = taken.event_id
      offset 0
  ) event
  left join ordem_engine.inbox_answers answer on answer.event_id = taken.event_id
