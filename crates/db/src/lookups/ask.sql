-- db::lookups::ask
-- Sorted as the unique index is: two appliers with common look-ups wait for each other and do not deadlock.
with asked as materialized (
    select lookup_id, source, fetch_name, resource_id, due_at, event_id, expect
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::uuid[], $7::text[])
        as row (lookup_id, source, fetch_name, resource_id, due_at, event_id, expect)
), opened as (
    insert into ordem_engine.lookups as open (lookup_id, source, fetch_name, resource_id, asked_at, due_at)
    select distinct on (source collate "C", fetch_name collate "C", resource_id collate "C")
           lookup_id, source, fetch_name, resource_id, $8::timestamptz, due_at
      from asked
     order by source collate "C", fetch_name collate "C", resource_id collate "C", due_at
    on conflict (source, fetch_name, resource_id) where lease_token is null
       do update set asked_at = greatest(open.asked_at, excluded.asked_at)
    returning lookup_id, source, fetch_name, resource_id
)
insert into ordem_engine.lookup_events (event_id, lookup_id, expect)
select asked.event_id, opened.lookup_id, asked.expect
  from asked
  join opened on opened.source = asked.source and opened.fetch_name = asked.fetch_name and opened.resource_id = asked.resource_id
 where asked.event_id is not null
 order by asked.event_id
on conflict (event_id) do update set lookup_id = excluded.lookup_id, expect = excluded.expect
