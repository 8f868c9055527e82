-- db::operations::effects_of
select e.effect_id, e.effect, e.effect_key, e.destination, e.sequence, e.event_id, e.status, e.version_major,
       e.version_rank, e.created_at, coalesce(o.state, 'pending') as state, coalesce(o.attempts, q.attempts, 0) as attempts,
       o.finished_at, coalesce(q.last_error, o.last_error) as last_error,
       case when o.state is null then q.due_at end as due_at,
       q.lease_token is not null as is_leased,
       case when o.state = 'dead' then ordem_engine.failure_group(e.destination, o.last_error)
            when q.last_error is not null then ordem_engine.failure_group(e.destination, q.last_error) end as failure_group
  from ordem_engine.effect_keys k
  join ordem_engine.effects e on e.effect_id = k.effect_id
  left join ordem_engine.effect_outcomes o on o.effect_id = k.effect_id
  left join ordem_engine.effect_queue q on q.effect_id = k.effect_id
 where k.source = $1::text and k.kind = $2::text and k.resource_id = $3::text
 order by e.sequence, e.effect_id
