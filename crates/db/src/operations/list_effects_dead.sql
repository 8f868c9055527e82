-- db::operations::list_effects: those that the index effect_outcomes_dead leads to
select e.effect_id, e.source, e.kind, e.resource_id, e.effect, e.destination, e.state, e.attempts, e.created_at,
       e.delivered_at, e.last_error
  from ordem_engine.effect_outcomes o
  join ordem.effects e on e.effect_id = o.effect_id
 where o.state = 'dead' and o.effect_id >= $1::uuid
   and ($2::text is null or e.destination = $2::text)
 order by o.effect_id desc
 limit $3::int8
