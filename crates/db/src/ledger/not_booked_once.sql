-- db::ledger::not_booked_once
with booked as materialized (
    select effect_id, count(*) as times
      from ordem_engine.effects_told($1::text, $2::text)
     group by effect_id
)
select case when effect.state <> 'delivered' then 'not done'
            when booked.times is null then 'not booked'
            else 'booked more than once' end as problem,
       'effect ' || effect.effect_id as subject,
       format('%s of %s %s %s, to %s, is %s and booked %s times', effect.effect, effect.source, effect.kind,
              effect.resource_id, effect.destination, effect.state, coalesce(booked.times, 0)) as detail
  from ordem.effects effect
  left join booked on booked.effect_id = effect.effect_id
 where effect.destination = any ($3::text[])
   and case effect.state when 'delivered' then booked.times is distinct from 1 else effect.state <> 'discarded' end
 order by effect.effect_id
 limit $4::int8
