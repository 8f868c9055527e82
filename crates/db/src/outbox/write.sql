-- db::outbox::write
with incoming as materialized (
    select *
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int4[],
                  $9::int8[], $10::uuid[], $11::text[], $12::int8[], $13::int2[], $14::jsonb[])
        as row (effect_id, source, kind, resource_id, effect, effect_key, destination, sequence, lane, event_id, status,
                version_major, version_rank, fields)
), claimed as (
    insert into ordem_engine.effect_keys (source, kind, resource_id, effect, effect_key, effect_id)
    select source, kind, resource_id, effect, effect_key, effect_id from incoming
    on conflict (source, kind, resource_id, effect, effect_key) do nothing
    returning effect_id
), written as (
    insert into ordem_engine.effects
        (effect_id, source, kind, resource_id, effect, effect_key, destination, sequence, event_id, status,
         version_major, version_rank, fields, created_at)
    select effect_id, source, kind, resource_id, effect, effect_key, destination, sequence, event_id, status,
           version_major, version_rank, fields, $15::timestamptz
      from incoming
     where (effect_id in (select effect_id from claimed)) is true
), queued as (
    insert into ordem_engine.effect_queue (effect_id, destination, lane, sequence, due_at)
    select effect_id, destination, lane, sequence, $15::timestamptz
      from incoming
     where (effect_id in (select effect_id from claimed)) is true
)
select count(*), case when count(*) > 0 then pg_notify('ordem_effects', '')::text end from claimed
