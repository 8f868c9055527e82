-- db::inbox::claim_due_retries
-- As db::inbox::claim, for events whose next attempt is due. One transaction at a time takes some (the lock's numbers
-- are "inbo", "retr"): two would share out the events of one resource, and the later ones might be applied first.
with turn as materialized (
    select pg_try_advisory_xact_lock(1768841839, 1919251570) as is_ours
), due as materialized (
    select event_id, attempts
      from ordem_engine.inbox_retries
     where due_at <= $1::timestamptz
       and (select is_ours from turn)
     order by due_at, event_id
     limit $2::int8
       for update skip locked
), sized as materialized (
    select due.event_id, due.attempts, event.*,
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
    delete from ordem_engine.inbox_retries
     where event_id = any (array(select event_id from sized where bytes <= $3::int8 or place = 1))
)
select sized.event_id, sized.attempts, sized.source, sized.dedup_key, sized.event_type, sized.origin, sized.received_at,
       sized.headers, sized.body, answer.event_id is not null as is_answered, answer.body as answer, answer.reason
  from sized
  left join ordem_engine.inbox_answers answer on answer.event_id = sized.event_id
 where sized.bytes <= $3::int8 or sized.place = 1
