-- db::operations::select_effects: what waits, found in the queue, where also the dead are that hold their lane
select q.effect_id
  from ordem_engine.effect_queue q
  join ordem_engine.effects e on e.effect_id = q.effect_id
 where q.effect_id > $1::uuid and q.effect_id < $2::uuid and q.due_at <> '9999-01-01 00:00+00'
   and ($3::text is null or q.destination = $3::text)
   and ($4::text is null or e.effect = $4::text)
   and ($5::text is null
        or q.last_error is not null and ordem_engine.failure_group(q.destination, q.last_error) = $5::text)
 order by q.effect_id
 limit $6::int8
