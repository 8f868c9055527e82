-- db::operations::list_events: outcomes that the index inbox_outcomes_trouble leads to
select e.event_id, e.source, e.dedup_key, e.event_type, e.kind, e.resource_id, e.origin, e.received_at, e.applied_at,
       e.outcome, e.attempts, e.last_error
  from ordem_engine.inbox_outcomes o
  join ordem.events e on e.event_id = o.event_id
 where o.event_id >= $1::uuid
   and ($2::text is null or e.source = $2::text)
   and o.outcome = $3::text and o.outcome in ('dead', 'malformed', 'terminal_regression')
 order by o.event_id desc
 limit $4::int8
