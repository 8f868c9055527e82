-- db::operations::states_of
select e.event_id, e.source, coalesce(o.outcome, case when w.event_id is not null then 'fetching' end, 'pending') as outcome
  from ordem_engine.inbox_events e
  left join ordem_engine.inbox_outcomes o on o.event_id = e.event_id
  left join ordem_engine.lookup_events w on w.event_id = e.event_id
 where e.event_id = any ($1::uuid[])
 order by e.event_id
