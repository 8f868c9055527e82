-- db::operations::destination_backlogs
with waiting as (
    select destination, count(*) as pending,
           count(*) filter (where due_at <= $1::timestamptz) as due,
           count(*) filter (where lease_token is not null and due_at > $1::timestamptz) as leased,
           count(*) filter (where attempts > 0 and lease_token is null) as retrying,
           min(effect_id::text)::uuid as oldest
      from ordem_engine.effect_queue
     -- The dead that hold their lane are counted among the dead.
     where due_at <> '9999-01-01 00:00+00'
     group by destination
), dead as (
    select e.destination, count(*) as dead
      from ordem_engine.effect_outcomes o
      join ordem_engine.effects e on e.effect_id = o.effect_id
     where o.state = 'dead'
     group by e.destination
)
select coalesce(waiting.destination, dead.destination, paused.destination) as destination,
       coalesce(waiting.pending, 0) as pending, coalesce(waiting.due, 0) as due, coalesce(waiting.leased, 0) as leased,
       coalesce(waiting.retrying, 0) as retrying, waiting.oldest, coalesce(dead.dead, 0) as dead,
       paused.paused_at, paused.reason
  from waiting
  full join dead on dead.destination = waiting.destination
  full join ordem_engine.paused_destinations paused
    on paused.destination = coalesce(waiting.destination, dead.destination)
 order by 1
