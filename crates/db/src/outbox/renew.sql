-- db::outbox::renew
-- A row that is locked is not waited for: who works in a transaction that holds it needs no lease meanwhile.
with free as materialized (
    select effect_id from ordem_engine.effect_queue
     where effect_id = $1::uuid and lease_token = $2::uuid
       for update skip locked
), renewed as (
    update ordem_engine.effect_queue set due_at = $3::timestamptz where effect_id = any (array(select effect_id from free))
)
select exists (select from ordem_engine.effect_queue where effect_id = $1::uuid and lease_token = $2::uuid) as is_ours
