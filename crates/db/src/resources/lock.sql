-- db::resources::load_locked
select pg_advisory_xact_lock(number) from unnest($1::int8[]) number
