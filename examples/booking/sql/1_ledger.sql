-- The books: double entry, in minor units with their currency, append only.
-- `booking.post_ledger` is called by the applier in the very transaction that changes the row (destination `ledger`).

create schema if not exists booking;

create table booking.accounts (
    account text primary key,
    title text not null
);
insert into booking.accounts (account, title) values
    ('cash', 'Money at the payment provider'),
    ('revenue', 'What was sold'),
    ('clearing', 'Payments of invoices: each comes as two things, the invoice and its payment, and here they meet'),
    ('refunds', 'Money given back'),
    ('disputes', 'Money taken back by the customer''s bank');

-- One for each effect that moved money.
create table booking.transactions (
    transaction_id bigint generated always as identity primary key,
    effect_id uuid not null unique,
    source text not null,
    kind text not null,
    id text not null,
    -- The effect's name.
    reason text not null,
    booked_at timestamptz not null
);
create index transactions_resource on booking.transactions (source, kind, id);

create table booking.entries (
    transaction_id bigint not null references booking.transactions,
    line smallint not null,
    account text not null references booking.accounts,
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    -- Debit above zero, credit below.
    amount_minor bigint not null check (amount_minor <> 0),
    primary key (transaction_id, line)
);
create index entries_account on booking.entries (account, currency);

-- Every effect that was handed in, also one that left nothing to book.
create table booking.booked_effects (
    effect_id uuid primary key,
    booked_at timestamptz not null
);

-- How far each payment, order, invoice or dispute is booked: what comes next books the difference to this.
create table booking.positions (
    source text not null,
    kind text not null,
    id text not null,
    currency text not null,
    -- Of the newest message, by Ordem's version of the row.
    version bigint not null,
    total_minor bigint not null default 0,
    is_paid boolean not null default false,
    -- What is booked.
    paid_minor bigint not null default 0,
    refunded_minor bigint not null default 0,
    disputed_minor bigint not null default 0,
    primary key (source, kind, id)
);

-- ---------------------------------------------------------------- laws of the books

create function booking.require_balance() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp as
$$
declare
    unbalanced record;
begin
    select e.currency, sum(e.amount_minor) as amount into unbalanced
      from booking.entries e
     where e.transaction_id = new.transaction_id
     group by e.currency
    having sum(e.amount_minor) <> 0;
    if found then
        raise exception 'transaction % does not balance: % % too much', new.transaction_id, unbalanced.amount,
            unbalanced.currency using errcode = 'check_violation';
    end if;
    return null;
end
$$;

-- At the end of the transaction, when all its entries are there.
create constraint trigger entries_balance after insert on booking.entries
    deferrable initially deferred for each row execute function booking.require_balance();

create function booking.refuse_change() returns trigger
    language plpgsql as
$$
begin
    raise exception 'the books are append only: reverse a transaction by another one'
        using errcode = 'integrity_constraint_violation';
end
$$;
create trigger entries_stay before update or delete or truncate on booking.entries
    for each statement execute function booking.refuse_change();
create trigger transactions_stay before update or delete or truncate on booking.transactions
    for each statement execute function booking.refuse_change();

-- ---------------------------------------------------------------- booking

-- Takes one message of Ordem: {"type", "timestamp", "data": {effect_id, source, kind, id, effect, key, status, version,
-- fields}}. The amounts in it are sums, never differences, and what is booked is what they lack: so it does not matter
-- how often a message comes, in which order, or under which event.
create function booking.post_ledger(message jsonb) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as
$$
declare
    data constant jsonb := message -> 'data';
    fields constant jsonb := data -> 'fields';
    this_effect constant uuid := (data ->> 'effect_id')::uuid;
    this_source constant text := data ->> 'source';
    this_kind constant text := data ->> 'kind';
    this_id constant text := data ->> 'id';
    at constant timestamptz := (message ->> 'timestamp')::timestamptz;
    unit constant text := fields ->> 'currency';
    told_total constant bigint := (fields ->> 'total_minor')::bigint;
    told_refunded constant bigint := coalesce((fields ->> 'refunded_minor')::bigint, 0);
    told_version constant bigint := (data ->> 'version')::bigint;
    booked booking.positions;
    target booking.positions;
    paid bigint;
    refunded bigint;
    disputed bigint;
    sold_to text;
    this_transaction bigint;
begin
    insert into booking.booked_effects (effect_id, booked_at) values (this_effect, at) on conflict do nothing;
    if not found then
        return;
    end if;
    if unit is null then
        raise exception '% %: no currency is known, so nothing can be booked', this_kind, this_id
            using errcode = 'not_null_violation';
    end if;
    insert into booking.positions (source, kind, id, currency, version)
    values (this_source, this_kind, this_id, unit, told_version)
        on conflict do nothing;
    select * into booked from booking.positions p
     where p.source = this_source and p.kind = this_kind and p.id = this_id
       for update;
    if booked.currency <> unit then
        raise exception '% %: told in %, booked in %', this_kind, this_id, unit, booked.currency
            using errcode = 'check_violation';
    end if;

    target := booked;
    if told_version >= booked.version or booked.total_minor = 0 then
        target.total_minor := coalesce(told_total, booked.total_minor);
    end if;
    target.version := greatest(booked.version, told_version);
    if this_kind = 'dispute' then
        if told_version >= booked.version then
            target.disputed_minor := case when data ->> 'status' = 'won' then 0 else target.total_minor end;
        end if;
    else
        -- Money that was given back had come in.
        target.is_paid := booked.is_paid or data ->> 'effect' = 'book_payment' or told_refunded > 0;
        target.paid_minor := case when target.is_paid then target.total_minor else 0 end;
        target.refunded_minor := greatest(booked.refunded_minor, told_refunded);
    end if;
    update booking.positions p
       set version = target.version, total_minor = target.total_minor, is_paid = target.is_paid,
           paid_minor = target.paid_minor, refunded_minor = target.refunded_minor, disputed_minor = target.disputed_minor
     where p.source = this_source and p.kind = this_kind and p.id = this_id;

    paid := target.paid_minor - booked.paid_minor;
    refunded := target.refunded_minor - booked.refunded_minor;
    disputed := target.disputed_minor - booked.disputed_minor;
    if paid = 0 and refunded = 0 and disputed = 0 then
        return;
    end if;
    insert into booking.transactions (effect_id, source, kind, id, reason, booked_at)
    values (this_effect, this_source, this_kind, this_id, data ->> 'effect', at)
    returning transaction_id into this_transaction;
    -- An order is sold and paid in one. Of an invoice, the invoice is the sale and its payment the money.
    sold_to := case this_kind when 'payment' then 'clearing' else 'revenue' end;
    insert into booking.entries (transaction_id, line, account, currency, amount_minor)
    select this_transaction, row_number() over (order by line.place), line.account, unit, line.amount
      from (values (1, case this_kind when 'invoice' then 'clearing' else 'cash' end, paid),
                   (2, sold_to, -paid),
                   (3, 'refunds', refunded),
                   (4, 'cash', -refunded),
                   (5, 'disputes', disputed),
                   (6, 'cash', -disputed)) line (place, account, amount)
     where line.amount <> 0;
end
$$;

-- What stands on each account.
create view booking.balances as
select account, currency, sum(amount_minor) as balance_minor
  from booking.entries
 group by account, currency;
