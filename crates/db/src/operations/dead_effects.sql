-- db::operations::dead_effects
select o.effect_id
  from ordem_engine.effect_outcomes o
  join ordem_engine.effects e on e.effect_id = o.effect_id
 where o.state = 'dead' and o.effect_id >= $2::uuid and e.destination = $1::text
 order by o.effect_id
 limit $3::int8
