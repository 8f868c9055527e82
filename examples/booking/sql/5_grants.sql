-- The functions run with their owner's rights, so the daemons need no table of this schema.
-- Each call is allowed to one daemon: the applier books, the publisher does the rest.

revoke execute on function booking.post_ledger(jsonb), booking.add_loyalty(jsonb), booking.touch_retention(jsonb) from public;

grant usage on schema booking to ordem_applier, ordem_publisher, ordem_operator;
-- Both: should `ledger` be moved out of the applier's transaction, what waits is handed in by the publisher.
grant execute on function booking.post_ledger(jsonb) to ordem_applier, ordem_publisher;
grant execute on function booking.add_loyalty(jsonb), booking.touch_retention(jsonb) to ordem_publisher;
grant select on booking.ledger_faults, booking.booked_effects, booking.balances, booking.loyalty, booking.customers
    to ordem_operator;
