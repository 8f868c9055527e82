-- db::cursors::lead
select pg_try_advisory_lock($1) as leads
