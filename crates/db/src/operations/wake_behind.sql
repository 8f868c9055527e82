-- db::operations::discard: the next of each lane whose head is gone
update ordem_engine.effect_queue
   set due_at = $3::timestamptz
 where lease_token is null and due_at > $3::timestamptz
   -- A dead effect that holds its lane stays.
   and due_at <> '9999-01-01 00:00+00'
   and effect_id = any (array(
       select head.effect_id
         from unnest($1::text[], $2::int8[]) as gone (destination, lane)
        cross join lateral (
             select q.effect_id
               from ordem_engine.effect_queue q
              where q.destination = gone.destination and q.lane = gone.lane
              order by q.sequence
              limit 1
         ) head))
