-- db::operations::discard
-- An effect whose lease runs is being delivered in this moment, and one whose row is locked may be about to be: both
-- are left alone. A dead one that holds its lane is never about to be; whoever looks at it is gone at once.
with free as materialized (
    select effect_id
      from ordem_engine.effect_queue
     where effect_id = any ($1::uuid[]) and (lease_token is null or due_at <= $3::timestamptz)
       and due_at <> '9999-01-01 00:00+00'
       for update skip locked
), holding as materialized (
    select effect_id
      from ordem_engine.effect_queue
     where effect_id = any ($1::uuid[]) and due_at = '9999-01-01 00:00+00'
       for update
), waiting as (
    delete from ordem_engine.effect_queue
     where effect_id = any (array(select effect_id from free union all select effect_id from holding))
    returning effect_id, attempts
), dead as (
    delete from ordem_engine.effect_outcomes
     where effect_id = any ($1::uuid[]) and state = 'dead'
    returning effect_id, attempts
)
insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at, last_error)
-- One that held its lane is in both; grouping also lets both deletes end before the first insert.
select effect_id, 'discarded', max(attempts), $3::timestamptz, $2::text
  from (select effect_id, attempts from waiting union all select effect_id, attempts from dead) gone
 group by effect_id
returning effect_id
