-- db::operations::set_aside
select o.event_id
  from ordem_engine.inbox_outcomes o
  join ordem_engine.inbox_events e on e.event_id = o.event_id
 where o.outcome = any ($2::text[]) and o.event_id > $3::uuid and o.event_id < $5::uuid
   and e.source = $1::text
 order by o.event_id
 limit $4::int8
