-- db::operations::discard
-- An effect whose lease runs is being delivered in this moment, and one whose row is locked may be about to be: both
-- are left alone.
with free as materialized (
    select effect_id
      from ordem_engine.effect_queue
     where effect_id = any ($1::uuid[]) and (lease_token is null or due_at <= $3::timestamptz)
       for update skip locked
), waiting as (
    delete from ordem_engine.effect_queue
     where effect_id = any (array(select effect_id from free))
    returning effect_id, attempts
), dead as (
    delete from ordem_engine.effect_outcomes
     where effect_id = any ($1::uuid[]) and state = 'dead'
    returning effect_id, attempts
)
insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at, last_error)
select effect_id, 'discarded', attempts, $3::timestamptz, $2::text
  from (select effect_id, attempts from waiting union all select effect_id, attempts from dead) gone
returning effect_id
