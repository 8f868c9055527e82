-- db::operations::select_effects: the dead, which the index effect_outcomes_dead leads to
select o.effect_id
  from ordem_engine.effect_outcomes o
  join ordem_engine.effects e on e.effect_id = o.effect_id
 where o.state = 'dead' and o.effect_id > $1::uuid and o.effect_id < $2::uuid
   and ($3::text is null or e.destination = $3::text)
   and ($4::text is null or e.effect = $4::text)
   and ($5::text is null or ordem_engine.failure_group(e.destination, o.last_error) = $5::text)
 order by o.effect_id
 limit $6::int8
