-- db::outbox::finish: the next of each lane whose head is gone
update ordem_engine.effect_queue
   set due_at = $3::timestamptz
 where effect_id = any (array(
       select head.effect_id
         from unnest($2::int8[]) gone (lane)
        cross join lateral (
             select q.effect_id, q.due_at
               from ordem_engine.effect_queue q
              where q.destination = $1::text and q.lane = gone.lane
              order by q.sequence
              limit 1
         ) head
        -- A dead effect that holds its lane stays.
        where head.due_at > $3::timestamptz and head.due_at <> '9999-01-01 00:00+00'))
   and lease_token is null
