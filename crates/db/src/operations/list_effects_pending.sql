-- db::operations::list_effects: what waits, found in the queue, where also the dead are that hold their lane
select e.effect_id, e.source, e.kind, e.resource_id, e.effect, e.destination, e.state, e.attempts, e.created_at,
       e.delivered_at, e.last_error
  from ordem_engine.effect_queue q
  join ordem.effects e on e.effect_id = q.effect_id
 where q.effect_id >= $1::uuid and q.due_at <> '9999-01-01 00:00+00'
   and ($2::text is null or q.destination = $2::text)
 order by q.effect_id desc
 limit $3::int8
