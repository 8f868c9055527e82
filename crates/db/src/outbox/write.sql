-- db::outbox::write
with incoming as materialized (
    select *
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int4[],
                  $9::int8[], $10::uuid[], $11::text[], $12::int8[], $13::int2[], $14::jsonb[], $16::bool[])
        as row (effect_id, source, kind, resource_id, effect, effect_key, destination, sequence, lane, event_id, status,
                version_major, version_rank, fields, in_transaction)
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
     where not in_transaction and (effect_id in (select effect_id from claimed)) is true
), done as (
    -- What is done in this very transaction never waits.
    insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at)
    select effect_id, 'delivered', 1, $15::timestamptz
      from incoming
     where in_transaction and (effect_id in (select effect_id from claimed)) is true
), new as materialized (
    select incoming.effect_id, incoming.in_transaction
      from incoming
     where (incoming.effect_id in (select effect_id from claimed)) is true
)
select count(*) as written, coalesce(array_agg(effect_id) filter (where in_transaction), '{}') as in_transaction,
       case when count(*) filter (where not in_transaction) > 0 then pg_notify('ordem_effects', '')::text end as hint
  from new
