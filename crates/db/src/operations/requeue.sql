-- db::operations::requeue
with gone as (
    delete from ordem_engine.effect_outcomes
     where effect_id = any ($1::uuid[]) and state in ('dead', 'discarded')
    returning effect_id
), queued as (
    insert into ordem_engine.effect_queue (effect_id, destination, lane, sequence, due_at)
    select e.effect_id, e.destination, wanted.lane, e.sequence, $3::timestamptz
      from gone
      join unnest($1::uuid[], $2::int8[]) as wanted (effect_id, lane) on wanted.effect_id = gone.effect_id
      join ordem_engine.effects e on e.effect_id = gone.effect_id
     order by e.effect_id
    returning effect_id
)
select count(*) as effects, case when count(*) > 0 then pg_notify('ordem_effects', '')::text end from queued
