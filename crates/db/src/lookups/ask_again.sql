-- db::lookups::ask_again
-- Where another look-up of the same thing was opened meanwhile, its read comes later than all of these events: it takes
-- them over. It keeps the later instant of asking, so that no event is given up before its time.
with mine as materialized (
    select lookup_id, source, fetch_name, resource_id, asked_at, attempts
      from ordem_engine.lookups
     where lookup_id = $1::uuid and lease_token = $2::uuid
       for update
), other as (
    update ordem_engine.lookups o
       set asked_at = greatest(o.asked_at, mine.asked_at), attempts = greatest(o.attempts, mine.attempts),
           due_at = greatest(o.due_at, $3::timestamptz), last_error = $4::text
      from mine
     where o.source = mine.source and o.fetch_name = mine.fetch_name and o.resource_id = mine.resource_id and o.lease_token is null
    returning o.lookup_id
), moved as (
    update ordem_engine.lookup_events w set lookup_id = other.lookup_id
      from other, mine
     where w.lookup_id = mine.lookup_id
), merged as (
    delete from ordem_engine.lookups l using mine
     where l.lookup_id = mine.lookup_id and exists (select from other)
), again as (
    update ordem_engine.lookups l set lease_token = null, due_at = $3::timestamptz, last_error = $4::text
      from mine
     where l.lookup_id = mine.lookup_id and not exists (select from other)
)
select count(*) as ours from mine
