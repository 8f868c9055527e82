-- db::outbox::backlog
select waiting.destination, waiting.due, waiting.waiting, waiting.leased, effect.created_at as oldest
  from (select destination,
               count(*) filter (where lease_token is null and due_at <= $1::timestamptz) as due,
               count(*) filter (where lease_token is null and due_at > $1::timestamptz) as waiting,
               count(*) filter (where lease_token is not null) as leased,
               min(effect_id::text collate "C")::uuid as oldest_id
          from ordem_engine.effect_queue
         -- The dead do not wait, also those that hold their lane.
         where due_at <> '9999-01-01 00:00+00'
         group by destination) waiting
  left join lateral (
      select e.created_at from ordem_engine.effects e where e.effect_id = waiting.oldest_id offset 0
  ) effect on true
