-- db::operations::effects_by_id
select e.effect_id, e.source, e.kind, e.resource_id, e.effect, e.destination, coalesce(o.state, 'pending') as state,
       array(select later.effect
               from ordem_engine.effect_keys k
               join ordem_engine.effects later on later.effect_id = k.effect_id
               join ordem_engine.effect_outcomes ended on ended.effect_id = k.effect_id and ended.state = 'delivered'
              where k.source = e.source and k.kind = e.kind and k.resource_id = e.resource_id
                and later.destination = e.destination and later.sequence > e.sequence
              order by later.sequence) as delivered_later,
       array(select later.effect
               from ordem_engine.effect_keys k
               join ordem_engine.effects later on later.effect_id = k.effect_id
               join ordem_engine.effect_queue waits on waits.effect_id = k.effect_id
              where k.source = e.source and k.kind = e.kind and k.resource_id = e.resource_id
                and later.destination = e.destination and later.sequence > e.sequence
                and waits.lease_token is not null and waits.due_at > $2::timestamptz
              order by later.sequence) as in_flight_later,
       q.lease_token is not null and q.due_at > $2::timestamptz as is_in_flight,
       coalesce(q.last_error, o.last_error) as last_error
  from ordem_engine.effects e
  left join ordem_engine.effect_outcomes o on o.effect_id = e.effect_id
  left join ordem_engine.effect_queue q on q.effect_id = e.effect_id
 where e.effect_id = any ($1::uuid[])
 order by e.effect_id
