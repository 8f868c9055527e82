-- db::lookups::answer
-- Whoever lost the lease ends nothing: another read is under way, and it is newer.
with ended as (
    delete from ordem_engine.lookups where lookup_id = $1::uuid and lease_token = $2::uuid
    returning lookup_id
), freed as (
    delete from ordem_engine.lookup_events w using ended where w.lookup_id = ended.lookup_id
    returning w.event_id
), answered as (
    insert into ordem_engine.inbox_answers (event_id, answered_at, body, reason)
    select event_id, $3::timestamptz, $4::bytea, $5::text from freed order by event_id
    on conflict (event_id) do update
       set answered_at = excluded.answered_at, body = excluded.body, reason = excluded.reason
), queued as (
    insert into ordem_engine.inbox_retries (event_id, due_at, attempts)
    select event_id, $3::timestamptz, 0 from freed order by event_id
    on conflict (event_id) do update set due_at = excluded.due_at
)
select (select count(*) from ended) as ended, (select count(*) from freed) as freed
