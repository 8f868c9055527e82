-- db::operations::recent_outcomes
-- Looks at the newest events only: an hour of a busy inbox is too much to count for a glance.
with recent as materialized (
    select event_id, source, received_at
      from ordem_engine.inbox_events
     where event_id >= $1::uuid
     order by event_id desc
     limit $2::int8
)
select recent.source, coalesce(o.outcome, 'pending') as outcome, count(*) as events,
       min(recent.received_at) as first_received_at
  from recent
  left join ordem_engine.inbox_outcomes o on o.event_id = recent.event_id and o.event_id >= $1::uuid
 group by 1, 2
 order by 1, 2
