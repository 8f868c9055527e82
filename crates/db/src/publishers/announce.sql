-- db::publishers::announce
with announced as (
    insert into ordem_engine.publishers (destination, publisher_id, seen_at)
    values ($1::text, $2::uuid, clock_timestamp())
    on conflict (destination, publisher_id) do update set seen_at = excluded.seen_at
), gone as (
    delete from ordem_engine.publishers
     where destination = $1::text and publisher_id <> $2::uuid
       and seen_at < clock_timestamp() - make_interval(secs => $3::float8)
)
select count(*) filter (where publisher_id < $2::uuid) as before, count(*) as others
  from ordem_engine.publishers
 where destination = $1::text and publisher_id <> $2::uuid
   and seen_at >= clock_timestamp() - make_interval(secs => $3::float8)
