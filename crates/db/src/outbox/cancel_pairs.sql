-- db::outbox::cancel_pairs
-- An effect that was tried, is on its way or is locked by a publisher that is about to take it stays: then its undoing is
-- sent after it.
with pair as materialized (
    select *
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        as row (undoing_id, undoing, source, kind, resource_id, undone)
), untried as materialized (
    select pair.undoing_id, pair.undoing, pair.undone, queued.effect_id, queued.lane
      from pair
     cross join lateral (
          select k.effect_id
            from ordem_engine.effect_keys k
           where k.source = pair.source and k.kind = pair.kind and k.resource_id = pair.resource_id
             and k.effect = pair.undone and k.effect_key = ''
          offset 0
     ) named
     cross join lateral (
          select q.effect_id, q.lane
            from ordem_engine.effect_queue q
           where q.effect_id = named.effect_id and q.attempts = 0 and q.last_error is null and q.lease_token is null
          offset 0
             for update skip locked
     ) queued
     where exists (select from ordem_engine.effect_queue q where q.effect_id = pair.undoing_id)
       and not exists (select from ordem_engine.delivery_attempts a where a.effect_id = named.effect_id)
), gone as materialized (
    select effect_id, undoing || ' came before it was sent: neither is sent' as reason from untried
     union all
    select undoing_id, 'nothing to undo: ' || undone || ' was never sent' from untried
), removed as (
    delete from ordem_engine.effect_queue where effect_id = any (array(select effect_id from gone))
), outcome as (
    insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at, last_error)
    select effect_id, 'discarded', 0, $7::timestamptz, reason from gone
)
select undoing_id, lane from untried
