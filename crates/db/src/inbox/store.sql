-- db::inbox::store
-- Answers the rows that were not stored because their key is taken. What is known of a key comes from the
-- statement's snapshot: of one taken in this moment by another session nothing is known yet. A hash of 0 says nothing.
-- `(… in (…)) is true` is a hashed look-up; a bare `in` becomes a join that compares every row with every other.
with incoming as materialized (
    select *
      from unnest($1::uuid[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::text[],
                  $9::timestamptz[], $10::text[], $11::bytea[])
        as row (event_id, source, dedup_key, body_hash, event_type, kind, resource_id, origin, received_at, headers, body)
), claimed as (
    insert into ordem_engine.inbox_keys (source, dedup_key, event_id, body_hash)
    select source, dedup_key, event_id, body_hash from incoming where dedup_key is not null
    on conflict (source, dedup_key) do nothing
    returning event_id
), fresh as materialized (
    select event_id from claimed
    union all
    select event_id from incoming where dedup_key is null
), stored as (
    insert into ordem_engine.inbox_events
        (event_id, source, dedup_key, event_type, kind, resource_id, origin, received_at, headers, body)
    select event_id, source, dedup_key, event_type, kind, resource_id, origin, received_at, headers, body
      from incoming
     where (event_id in (select event_id from fresh)) is true
), queued as (
    insert into ordem_engine.inbox_queue (event_id)
    select event_id from fresh
)
select incoming.event_id, nullif(known.body_hash, 0) <> incoming.body_hash as body_differs
  from incoming
  left join lateral (
      select keys.body_hash
        from ordem_engine.inbox_keys keys
       where keys.source = incoming.source and keys.dedup_key = incoming.dedup_key
      offset 0
  ) known on true
 where incoming.event_id not in (select event_id from fresh)
