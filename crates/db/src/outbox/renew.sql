-- db::outbox::renew
update ordem_engine.effect_queue
   set due_at = $3::timestamptz
 where effect_id = $1::uuid and lease_token = $2::uuid
