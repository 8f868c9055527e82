-- What is wrong in the books, one row each; none when they are right. Read by `ordem ledger check`
-- (`[ledger] check = "booking.ledger_faults"`).
-- It may run at any time: rows of Ordem, effects and bookings are written in one transaction.

-- What Ordem knows of the money of each resource.
create view booking.truth as
select r.source, r.kind, r.id, r.status,
       r.fields ->> 'currency' as currency,
       case when r.kind = 'dispute' then 0
            -- A payment that arrived after the cancellation is money all the same: the books remember that it came.
            when r.status in ('paid', 'shipped', 'refunded') or coalesce((r.fields ->> 'refunded_minor')::bigint, 0) > 0
              or p.is_paid
            then coalesce((r.fields ->> 'total_minor')::bigint, 0)
            else 0 end as paid_minor,
       case when r.kind = 'dispute' then 0 else coalesce((r.fields ->> 'refunded_minor')::bigint, 0) end as refunded_minor,
       case when r.kind = 'dispute' and r.status <> 'won' then coalesce((r.fields ->> 'total_minor')::bigint, 0)
            else 0 end as disputed_minor
  from ordem.resources r
  left join booking.positions p on p.source = r.source and p.kind = r.kind and p.id = r.id
 where r.kind in ('order', 'payment', 'invoice', 'dispute');

-- What the entries say of the same.
create view booking.booked as
select t.source, t.kind, t.id,
       min(e.currency) as currency, count(distinct e.currency) as currencies,
       coalesce(-sum(e.amount_minor) filter (where e.account = case t.kind when 'payment' then 'clearing' else 'revenue' end),
                0) as paid_minor,
       coalesce(sum(e.amount_minor) filter (where e.account = 'refunds'), 0) as refunded_minor,
       coalesce(sum(e.amount_minor) filter (where e.account = 'disputes'), 0) as disputed_minor
  from booking.transactions t
  join booking.entries e on e.transaction_id = t.transaction_id
 group by t.source, t.kind, t.id;

create view booking.ledger_faults as
select 'does not balance' as problem, 'transaction ' || transaction_id as subject,
       format('its entries sum to %s %s', sum(amount_minor), currency) as detail
  from booking.entries
 group by transaction_id, currency
having sum(amount_minor) <> 0
union all
select 'no entries', 'transaction ' || t.transaction_id, 'a transaction without entries'
  from booking.transactions t
 where not exists (select from booking.entries e where e.transaction_id = t.transaction_id)
union all
select 'booked is not what happened', concat_ws(' ', source, kind, id),
       format('paid %s, refunded %s, disputed %s; booked %s, %s, %s', coalesce(truth.paid_minor, 0),
              coalesce(truth.refunded_minor, 0), coalesce(truth.disputed_minor, 0), coalesce(booked.paid_minor, 0),
              coalesce(booked.refunded_minor, 0), coalesce(booked.disputed_minor, 0))
  from booking.truth
  full join booking.booked using (source, kind, id)
 where (coalesce(truth.paid_minor, 0), coalesce(truth.refunded_minor, 0), coalesce(truth.disputed_minor, 0))
       <> (coalesce(booked.paid_minor, 0), coalesce(booked.refunded_minor, 0), coalesce(booked.disputed_minor, 0))
union all
select 'currencies are mixed', concat_ws(' ', source, kind, id),
       format('told in %s, booked in %s', truth.currency,
              case when booked.currencies > 1 then 'several' else booked.currency end)
  from booking.booked
  join booking.truth using (source, kind, id)
 where booked.currencies > 1 or booked.currency <> truth.currency
union all
-- A checkout that names its order, and a payment intent that does not.
select 'counted twice', concat_ws(' ', o.source, 'order', o.id),
       format('its payment %s names no order and is booked by itself: set payment_intent_data.metadata.order_id', p.id)
  from ordem.resources o
  join booking.positions p on p.source = o.source and p.kind = 'payment' and p.id = o.fields ->> 'payment'
 where o.kind = 'order' and p.is_paid
union all
select 'effect without booking', 'effect ' || e.effect_id,
       format('%s of %s %s %s is delivered and not in the books', e.effect, e.source, e.kind, e.resource_id)
  from ordem.effects e
 where e.destination = 'ledger' and e.state = 'delivered'
   and not exists (select from booking.booked_effects b where b.effect_id = e.effect_id)
union all
select 'booking without effect', 'effect ' || b.effect_id, 'Ordem knows no such effect that was delivered'
  from booking.booked_effects b
  left join ordem.effects e on e.effect_id = b.effect_id
 where (e.effect_id is null or e.destination <> 'ledger' or e.state <> 'delivered')
   -- Ordem drops effects when their retention is over.
   and b.booked_at >= (select min(created_at) from ordem.effects);
