-- Loyalty points: one for each whole unit of money that was paid and not given back.
-- `booking.add_loyalty` is called by the publisher, in the transaction that marks the effect delivered (destination
-- `loyalty`): it may be slow or down without holding up a booking.

-- Currencies whose minor unit is not a hundredth.
create table booking.currencies (
    currency text primary key check (currency ~ '^[A-Z]{3}$'),
    minor_per_unit bigint not null check (minor_per_unit > 0)
);
insert into booking.currencies (currency, minor_per_unit) values
    ('BHD', 1000), ('CLP', 1), ('JPY', 1), ('KRW', 1), ('KWD', 1000), ('OMR', 1000), ('PYG', 1), ('TND', 1000), ('VND', 1),
    ('XAF', 1), ('XOF', 1), ('XPF', 1);

-- Every call, also one that moved no point.
create table booking.loyalty_movements (
    effect_id uuid primary key,
    customer text not null,
    source text not null,
    kind text not null,
    id text not null,
    points bigint not null,
    moved_at timestamptz not null
);
create index loyalty_movements_customer on booking.loyalty_movements (customer);
create index loyalty_movements_resource on booking.loyalty_movements (source, kind, id);

create function booking.add_loyalty(message jsonb) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as
$$
declare
    data constant jsonb := message -> 'data';
    fields constant jsonb := data -> 'fields';
    this_effect constant uuid := (data ->> 'effect_id')::uuid;
    this_source constant text := data ->> 'source';
    this_kind constant text := data ->> 'kind';
    this_id constant text := data ->> 'id';
    who constant text := lower(fields ->> 'customer_email');
    refunded constant bigint := coalesce((fields ->> 'refunded_minor')::bigint, 0);
    -- The payment of an invoice earns nothing by itself, but what is given back of it takes points away.
    paid constant bigint := case this_kind when 'payment' then 0 else (fields ->> 'total_minor')::bigint end;
    minor_per_unit bigint;
    earned bigint;
    so_far bigint;
    is_first boolean;
begin
    if who is null then
        -- Nobody to give points to.
        return;
    end if;
    -- Messages of one resource come one after the other; this is for whoever calls it by hand besides.
    perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'loyalty', this_source, this_kind, this_id), 0));
    if exists (select from booking.loyalty_movements m where m.effect_id = this_effect) then
        return;
    end if;
    select c.minor_per_unit into minor_per_unit from booking.currencies c where c.currency = fields ->> 'currency';
    minor_per_unit := coalesce(minor_per_unit, 100);
    earned := case when paid > 0 then greatest(paid - refunded, 0) / minor_per_unit else -(refunded / minor_per_unit) end;
    select coalesce(sum(m.points), 0), count(*) = 0 into so_far, is_first
      from booking.loyalty_movements m
     where m.source = this_source and m.kind = this_kind and m.id = this_id;
    -- What was given back only grows, so a message that is overtaken by a later one takes nothing and gives nothing.
    insert into booking.loyalty_movements (effect_id, customer, source, kind, id, points, moved_at)
    values (this_effect, who, this_source, this_kind, this_id,
            case when is_first then earned else least(earned - so_far, 0) end, (message ->> 'timestamp')::timestamptz);
end
$$;

create view booking.loyalty as
select customer, sum(points) as points
  from booking.loyalty_movements
 group by customer;
