-- db::outbox::give_back
update ordem_engine.effect_queue
   set due_at = $3::timestamptz, attempts = attempts - 1, lease_token = null
 where effect_id = any ($1::uuid[]) and lease_token = any ($2::uuid[])
