-- db::operations::replay
with gone as (
    delete from ordem_engine.inbox_outcomes o
     where o.event_id = any ($1::uuid[])
       and o.outcome in ('dead', 'malformed', 'ignored', 'test')
       and exists (select from ordem_engine.inbox_events e where e.event_id = o.event_id)
    returning o.event_id
), forgotten as (
    delete from ordem_engine.inbox_answers where event_id in (select event_id from gone)
), queued as (
    insert into ordem_engine.inbox_queue (event_id)
    select event_id from gone order by event_id
)
select event_id, pg_notify('ordem_inbox', '')::text from gone
