-- db::operations::discard
-- An effect whose lease runs is being delivered in this moment: it is left alone.
with waiting as (
    delete from ordem_engine.effect_queue
     where effect_id = any ($1::uuid[]) and (lease_token is null or due_at <= $3::timestamptz)
    returning effect_id, attempts
), dead as (
    delete from ordem_engine.effect_outcomes
     where effect_id = any ($1::uuid[]) and state = 'dead'
    returning effect_id, attempts
)
insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at, last_error)
select effect_id, 'discarded', attempts, $3::timestamptz, $2::text
  from (select effect_id, attempts from waiting union all select effect_id, attempts from dead) gone
