-- db::operations::requeue: what stands behind these effects stays where it is until the transaction ends
select later.effect_id
  from unnest($1::uuid[], $2::int8[]) as row (effect_id, lane)
  join ordem_engine.effects e on e.effect_id = row.effect_id
  join ordem_engine.effect_queue later
    on later.destination = e.destination and later.lane = row.lane and later.sequence > e.sequence
   for update of later skip locked
