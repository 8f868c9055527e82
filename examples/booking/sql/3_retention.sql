-- Who comes, and who has not come for long.
-- `booking.touch_retention` is called by the publisher (destination `retention`).

create table booking.customers (
    customer text primary key,
    last_visit_at timestamptz not null,
    -- Set by a job of yours for whoever stays away; a payment takes it back.
    is_lost boolean not null default false
);

-- The later of two visits stays, whatever comes first and however often.
create function booking.touch_retention(message jsonb) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as
$$
declare
    fields constant jsonb := message -> 'data' -> 'fields';
    who constant text := lower(fields ->> 'customer_email');
    visited_at constant timestamptz := (fields ->> 'paid_at')::timestamptz;
begin
    if who is null or visited_at is null then
        return;
    end if;
    insert into booking.customers (customer, last_visit_at)
    values (who, visited_at)
        on conflict (customer) do update
       set is_lost = customers.is_lost and excluded.last_visit_at <= customers.last_visit_at,
           last_visit_at = greatest(customers.last_visit_at, excluded.last_visit_at);
end
$$;
