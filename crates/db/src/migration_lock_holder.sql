-- db::migrate
select a.pid,
       coalesce(a.application_name, '') as application_name,
       coalesce(a.state, 'unknown') as state
from pg_locks as l
join pg_stat_activity as a on a.pid = l.pid
where
    l.locktype = 'advisory'
    and l.granted
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    -- A lock on one number is kept as its upper and lower half.
    and l.classid::int8 = $1::int8 >> 32
    and l.objid::int8 = $1::int8 & 4294967295
    and l.objsubid = 1
limit 1
