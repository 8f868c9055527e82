-- db::resources::load_lockable
select number, pg_try_advisory_xact_lock(number) as locked from unnest($1::int8[]) number
