-- db::outbox::claim
-- Looks at the effects that are due, the longest waiting first. The head of each lane is taken; what stands behind it
-- is held back until its head may be done, so that it is not looked at again and again.
-- Nobody is held back behind a row that another session locks: that row may be on its way out, and who removes a head
-- wakes the next of its lane (finish.rs) only if it was held back before.
with candidate as materialized (
    select effect_id, lane, sequence, due_at
      from ordem_engine.effect_queue
     where destination = $1::text and due_at >= $2::timestamptz and due_at <= $3::timestamptz
       and not exists (select from ordem_engine.paused_destinations where destination = $1::text)
     order by due_at
     limit $6::int8
       for update skip locked
), judged as materialized (
    select candidate.effect_id, candidate.lane, candidate.sequence, candidate.due_at,
           exists (select from ordem_engine.effect_queue earlier
                    where earlier.destination = $1::text and earlier.lane = candidate.lane
                      and earlier.sequence < candidate.sequence)
           -- An operator may put a dead effect back in front of one that is on its way.
           or exists (select from (
                      select later.lease_token, later.due_at
                        from ordem_engine.effect_queue later
                       where later.destination = $1::text and later.lane = candidate.lane
                         and later.sequence > candidate.sequence
                       order by later.sequence
                       limit 8) near
                    where near.lease_token is not null and near.due_at > $3::timestamptz) as blocked
      from candidate
), blocker as materialized (
    select judged.effect_id, head.due_at
      from judged
     cross join lateral (
          select earlier.due_at
            from ordem_engine.effect_queue earlier
           where earlier.destination = $1::text and earlier.lane = judged.lane and earlier.sequence < judged.sequence
           order by earlier.sequence
           limit 1
             for key share skip locked
      ) head
     where judged.blocked
), taken as (
    update ordem_engine.effect_queue
       set lease_token = gen_random_uuid(), due_at = $4::timestamptz, attempts = attempts + 1
     where effect_id = any (array(select effect_id from judged where not blocked order by due_at limit $5::int8))
       -- Heads are changed only after they were locked above, where those behind them look at them.
       and (select count(*) from blocker) is not null
    returning effect_id, lease_token, attempts, lane
), held_back as (
    -- Until the head's next attempt, or the end of its lease; a while at most, should the wake-up be lost.
    update ordem_engine.effect_queue
       set due_at = least($3::timestamptz + interval '5 minutes', greatest($4::timestamptz, (
               select blocker.due_at from blocker where blocker.effect_id = effect_queue.effect_id)))
     where effect_id = any (array(select effect_id from blocker))
)
select seen.more, seen.oldest_due, claimed.*
  from (select count(*) >= $6::int8 or count(*) filter (where not blocked) > $5::int8 as more, min(due_at) as oldest_due
          from judged) seen
  left join lateral (
      select taken.effect_id, taken.lease_token, taken.attempts, taken.lane, effect.*
        from taken
       cross join lateral (
            select e.source, e.kind, e.resource_id, e.effect, e.effect_key, e.status, e.version_major, e.fields,
                   e.created_at
              from ordem_engine.effects e
             where e.effect_id = taken.effect_id
            offset 0
        ) effect
  ) claimed on true
