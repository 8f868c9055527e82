-- db::operations::pause
insert into ordem_engine.paused_destinations (destination, paused_at, reason)
values ($1::text, $2::timestamptz, $3::text)
on conflict (destination) do update set reason = coalesce(excluded.reason, paused_destinations.reason)
returning paused_at, reason
