-- db::inbox::claim_due_retries
with due as materialized (
    select event_id
      from ordem_engine.inbox_retries
     where due_at <= $1::timestamptz
     order by due_at
     limit $2::int8
       for update skip locked
), taken as (
    delete from ordem_engine.inbox_retries
     where event_id = any (array(select event_id from due))
    returning event_id, attempts
)
select taken.event_id, taken.attempts, event.source, event.dedup_key, event.event_type, event.origin,
       event.received_at, event.headers, event.body
  from taken
 cross join lateral (
      select e.source, e.dedup_key, e.event_type, e.origin, e.received_at, e.headers, e.body
        from ordem_engine.inbox_events e
       where e.event_id = taken.event_id
      offset 0
  ) event
