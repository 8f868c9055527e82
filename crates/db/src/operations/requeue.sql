-- db::operations::requeue
-- Nothing goes back in front of an effect that its destination has, or may be getting in this moment: one that is
-- leased, or whose row another session works on ($4 holds those that are locked here), unless that is meant ($5).
-- What it failed with stays in the queue's row: it tells later that the effect may have been sent before.
with wanted as materialized (
    select e.effect_id, e.destination, row.lane, e.sequence
      from unnest($1::uuid[], $2::int8[]) as row (effect_id, lane)
      join ordem_engine.effects e on e.effect_id = row.effect_id
     where $5::bool
        or not exists (select from ordem_engine.effect_queue later
                        where later.destination = e.destination and later.lane = row.lane
                          and later.sequence > e.sequence
                          and (later.lease_token is not null and later.due_at > $3::timestamptz
                               or later.effect_id <> all ($4::uuid[])))
           and not exists (select from ordem_engine.effect_keys k
                             join ordem_engine.effects later on later.effect_id = k.effect_id
                             join ordem_engine.effect_outcomes ended
                               on ended.effect_id = k.effect_id and ended.state = 'delivered'
                            where k.source = e.source and k.kind = e.kind and k.resource_id = e.resource_id
                              and later.destination = e.destination and later.sequence > e.sequence)
), gone as (
    delete from ordem_engine.effect_outcomes
     where effect_id = any (array(select effect_id from wanted)) and state in ('dead', 'discarded')
    returning effect_id, last_error
), queued as (
    insert into ordem_engine.effect_queue (effect_id, destination, lane, sequence, due_at, last_error)
    select wanted.effect_id, wanted.destination, wanted.lane, wanted.sequence, $3::timestamptz, gone.last_error
      from gone
      join wanted on wanted.effect_id = gone.effect_id
     order by wanted.effect_id
    -- One that held its lane is in the queue already.
    on conflict (effect_id) do update
       set due_at = excluded.due_at, attempts = 0, lease_token = null, last_error = excluded.last_error
    returning effect_id
)
select effect_id, pg_notify('ordem_effects', '')::text from queued
