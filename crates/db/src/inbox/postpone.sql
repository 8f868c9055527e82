-- db::inbox::postpone
-- The caller took the event out of the queue in this transaction.
insert into ordem_engine.inbox_retries (event_id, due_at, attempts, last_error)
values ($1::uuid, $2::timestamptz, $3::int4, $4::text)
on conflict (event_id) do update
   set due_at = excluded.due_at, attempts = excluded.attempts, last_error = excluded.last_error
