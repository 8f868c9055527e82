-- db::operations::select_effects: those of one resource, by its keys
select e.effect_id
  from ordem_engine.effect_keys k
  join ordem_engine.effects e on e.effect_id = k.effect_id
  left join ordem_engine.effect_outcomes o on o.effect_id = k.effect_id
  left join ordem_engine.effect_queue q on q.effect_id = k.effect_id
 where k.source = $7::text and k.kind = $8::text and k.resource_id = $9::text
   and coalesce(o.state, 'pending') = $10::text
   and k.effect_id > $1::uuid and k.effect_id < $2::uuid
   and ($3::text is null or e.destination = $3::text)
   and ($4::text is null or e.effect = $4::text)
   and ($5::text is null
        or ordem_engine.failure_group(e.destination, coalesce(q.last_error, o.last_error)) = $5::text)
 order by k.effect_id
 limit $6::int8
