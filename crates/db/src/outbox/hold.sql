-- db::outbox::hand_over
-- Ours until the transaction ends, if the lease is still ours now: nobody claims the row meanwhile, and its lease can be
-- renewed. Each statement of the transaction gets the time of the call.
select set_config('statement_timeout', $3::text, true)
  from ordem_engine.effect_queue
 where effect_id = $1::uuid and lease_token = $2::uuid
   for key share
