-- db::operations::failure_groups
-- Counted by the whole text first: what failed in one way says mostly the same, and the cause is worked out once for it.
with failed as (
    select e.destination, 'dead' as state, o.last_error, count(*) as effects, min(o.effect_id::text)::uuid as first_id,
           max(o.effect_id::text)::uuid as last_id
      from ordem_engine.effect_outcomes o
      join ordem_engine.effects e on e.effect_id = o.effect_id
     where o.state = 'dead' and o.effect_id >= $1::uuid
       and ($2::text is null or e.destination = $2::text)
     group by e.destination, o.last_error
    union all
    select q.destination, 'retrying' as state, q.last_error, count(*) as effects, min(q.effect_id::text)::uuid,
           max(q.effect_id::text)::uuid
      from ordem_engine.effect_queue q
     where q.attempts > 0 and q.last_error is not null and q.effect_id >= $1::uuid
       -- The dead that hold their lane are among the dead above.
       and q.due_at <> '9999-01-01 00:00+00'
       and ($2::text is null or q.destination = $2::text)
     group by q.destination, q.last_error
), named as materialized (
    select ordem_engine.failure_group(destination, last_error) as failure_group, failed.* from failed
)
select failure_group, destination, state, sum(effects)::int8 as effects, min(first_id::text)::uuid as first_id,
       max(last_id::text)::uuid as last_id, (array_agg(last_error order by effects desc))[1] as sample
  from named
 group by failure_group, destination, state
 order by 4 desc, 1, 3
 limit $3::int8
