-- db::outbox::finish
-- Only what is still leased under the very token is touched: each token belongs to one claim of one effect.
-- A dead effect that keeps its place is never due: a row with the due_at below is one that an operator must settle.
with result as materialized (
    select *
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::bool[],
                  $7::timestamptz[], $8::int4[], $9::text[], $10::int4[], $11::text[], $13::bool[])
        as row (effect_id, lease_token, state, due_at, error, counted, started_at, duration_ms, result, http_status,
                response_excerpt, keeps_place)
), held as materialized (
    select result.*, queued.attempts
      from result
     cross join lateral (
          select q.attempts
            from ordem_engine.effect_queue q
           where q.effect_id = result.effect_id and q.lease_token = result.lease_token
          offset 0
             for update
      ) queued
), ended as (
    delete from ordem_engine.effect_queue
     where effect_id = any (array(select effect_id from held where not keeps_place))
), outcome as (
    insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at, last_error)
    select effect_id, state, attempts, $12::timestamptz, error from held where state <> 'postponed'
    on conflict (effect_id) do nothing
), kept as (
    update ordem_engine.effect_queue
       set lease_token = null,
           (due_at, last_error, attempts) = (
               select case held.state when 'dead' then '9999-01-01 00:00+00' else held.due_at end, held.error,
                      held.attempts - case when held.counted then 0 else 1 end
                 from held where held.effect_id = effect_queue.effect_id)
     where effect_id = any (array(select effect_id from held where keeps_place))
), attempt as (
    insert into ordem_engine.delivery_attempts
        (effect_id, attempt, started_at, duration_ms, result, http_status, error, response_excerpt)
    select effect_id, attempts, started_at, duration_ms, result, http_status, error, response_excerpt from held
)
select effect_id from held
