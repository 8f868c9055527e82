-- db::operations::attempts_of
select effect_id, attempt, started_at, duration_ms, result, http_status, error, response_excerpt
  from ordem_engine.delivery_attempts
 where effect_id = any ($1::uuid[])
 order by effect_id, started_at, attempt
