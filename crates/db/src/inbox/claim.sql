-- db::inbox::claim
-- Bodies are summed in the order of ids, and what goes beyond the bound stays in the queue, but the first is always taken.
-- The shapes (array for the delete, lateral with offset 0 for the look-up) leave the planner nothing to get wrong.
with due as materialized (
    select event_id
      from ordem_engine.inbox_queue
     where event_id > $1::uuid
     order by event_id
     limit $2::int8
       for update skip locked
), sized as materialized (
    select due.event_id, 0 as attempts, event.*,
           sum(octet_length(event.body)) over (order by due.event_id) as bytes,
           row_number() over (order by due.event_id) as place
      from due
     cross join lateral (
          select e.source, e.dedup_key, e.event_type, e.origin, e.received_at, e.headers, e.body
            from ordem_engine.inbox_events e
           where e.event_id = due.event_id
          offset 0
      ) event
), taken as (
    delete from ordem_engine.inbox_queue
     where event_id = any (array(select event_id from sized where bytes <= $3::int8 or place = 1))
)
select event_id, attempts, source, dedup_key, event_type, origin, received_at, headers, body
  from sized
 where bytes <= $3::int8 or place = 1
