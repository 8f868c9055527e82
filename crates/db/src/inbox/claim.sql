-- db::inbox::claim
-- The shapes (array for the delete, lateral with offset 0 for the look-up) leave the planner nothing to get wrong.
with due as materialized (
    select event_id
      from ordem_engine.inbox_queue
     where event_id > $1::uuid
     order by event_id
     limit $2::int8
       for update skip locked
), taken as (
    delete from ordem_engine.inbox_queue
     where event_id = any (array(select event_id from due))
    returning event_id
)
select taken.event_id, 0 as attempts, event.source, event.dedup_key, event.event_type, event.origin,
       event.received_at, event.headers, event.body
  from taken
 cross join lateral (
      select e.source, e.dedup_key, e.event_type, e.origin, e.received_at, e.headers, e.body
        from ordem_engine.inbox_events e
       where e.event_id = taken.event_id
      offset 0
  ) event
