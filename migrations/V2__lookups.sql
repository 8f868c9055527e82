-- Look-ups: what the provider is asked because an event alone does not tell enough.
-- The applier asks, a reconciler reads, and the answer goes back to the events that wait for it.

-- One row per read that is to be made. Without a lease it is open: every event about the same thing joins it. With one
-- the read has begun and may be older than an event that comes now: that event opens a row of its own.
create table ordem_engine.lookups (
    lookup_id uuid primary key,
    source text collate "C" not null,
    -- Name of the profile's [fetch.NAME]; empty: its [api.get].
    fetch_name text collate "C" not null,
    resource_id text collate "C" not null,
    -- When it was last asked for: how long a missing thing is asked again counts from here.
    asked_at timestamptz not null,
    -- Not before this instant: the next attempt, or the end of the lease while lease_token is set.
    due_at timestamptz not null,
    -- Reads begun.
    attempts integer not null default 0 check (attempts >= 0),
    lease_token uuid,
    last_error text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create unique index lookups_open on ordem_engine.lookups (source, fetch_name, resource_id) where lease_token is null;
create index lookups_due on ordem_engine.lookups (source, due_at);

-- The events that wait for a look-up: in no queue, and `fetching` in the views.
create table ordem_engine.lookup_events (
    event_id uuid primary key,
    lookup_id uuid not null,
    -- The status that the provider must at least have reached, by the rule that matched the event.
    expect text
);
create index lookup_events_lookup on ordem_engine.lookup_events (lookup_id);

-- What the provider answered, until its event is done: its bytes, or why there is nothing.
create table ordem_engine.inbox_answers (
    event_id uuid primary key,
    answered_at timestamptz not null,
    body bytea,
    reason text,
    check ((body is null) <> (reason is null))
);

-- As in V1, and a week whose events wait for a look-up is kept.
create or replace function ordem_engine.keep_partitions(instant timestamptz, retention interval, out made int, out dropped int)
    language plpgsql security definer set search_path = pg_catalog, pg_temp as
$$
declare
    parent text;
    child text;
    week timestamptz;
    busy boolean;
begin
    made := 0;
    dropped := 0;
    if not pg_try_advisory_xact_lock(hashtextextended('ordem_engine.keep_partitions', 0)) then
        return;
    end if;
    foreach parent in array array['inbox_events', 'inbox_outcomes', 'effects', 'effect_outcomes', 'delivery_attempts'] loop
        if to_regclass('ordem_engine.' || parent || '_default') is null then
            execute format('create table ordem_engine.%I partition of ordem_engine.%I default', parent || '_default', parent);
        end if;
        for ahead in -1..3 loop
            week := date_trunc('week', instant at time zone 'UTC') at time zone 'UTC' + ahead * interval '7 days';
            child := parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD');
            if to_regclass('ordem_engine.' || child) is null then
                begin
                    execute format('create table ordem_engine.%I partition of ordem_engine.%I for values from (%L) to (%L)',
                        child, parent, ordem_engine.first_id(week), ordem_engine.first_id(week + interval '7 days'));
                    made := made + 1;
                exception when check_violation then
                    -- Rows of that week lie in the default partition already (a clock was wrong): they stay there.
                    raise warning 'partition % not made: the default partition holds rows of its week', child;
                end;
            end if;
        end loop;
        for child in
            select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = ('ordem_engine.' || parent)::regclass and c.relname ~ '_[0-9]{8}$'
        loop
            week := to_date(right(child, 8), 'YYYYMMDD')::timestamp at time zone 'UTC';
            if week + interval '7 days' + retention < instant then
                busy := exists (select from ordem_engine.inbox_queue where event_id >= ordem_engine.first_id(week)
                                   and event_id < ordem_engine.first_id(week + interval '7 days'))
                     or exists (select from ordem_engine.inbox_retries where event_id >= ordem_engine.first_id(week)
                                   and event_id < ordem_engine.first_id(week + interval '7 days'))
                     or exists (select from ordem_engine.lookup_events where event_id >= ordem_engine.first_id(week)
                                   and event_id < ordem_engine.first_id(week + interval '7 days'))
                     or exists (select from ordem_engine.effect_queue where effect_id >= ordem_engine.first_id(week)
                                   and effect_id < ordem_engine.first_id(week + interval '7 days'));
                if not busy then
                    execute format('drop table ordem_engine.%I', child);
                    dropped := dropped + 1;
                end if;
            end if;
        end loop;
    end loop;
end
$$;

-- Same columns: an event that waits for a look-up shows as `fetching`, with what the last read ended in.
create or replace view ordem.events as
select e.event_id, e.source, e.dedup_key, e.event_type, e.kind, e.resource_id, e.origin, e.received_at,
       o.applied_at, coalesce(o.outcome, case when w.event_id is not null then 'fetching' end) as outcome,
       coalesce(o.attempts, r.attempts, 0) as attempts, coalesce(r.last_error, l.last_error, o.reason) as last_error
  from ordem_engine.inbox_events e
  left join ordem_engine.inbox_outcomes o on o.event_id = e.event_id
  left join ordem_engine.inbox_retries r on r.event_id = e.event_id
  left join ordem_engine.lookup_events w on w.event_id = e.event_id
  left join ordem_engine.lookups l on l.lookup_id = w.lookup_id;

create function ordem_engine.grant_to_role(role text, privileges text, objects text) returns void language plpgsql as
$$
begin
    if exists (select from pg_roles where rolname = role) then
        execute format('grant %s on %s to %I', privileges, objects, role);
    end if;
end
$$;
select ordem_engine.grant_to_role(role, privileges, objects)
  from (values
    ('ordem_applier', 'select, insert, update', 'ordem_engine.lookups, ordem_engine.lookup_events'),
    ('ordem_applier', 'select, delete', 'ordem_engine.inbox_answers'),

    ('ordem_reconciler', 'select, update, delete', 'ordem_engine.lookups, ordem_engine.lookup_events'),
    ('ordem_reconciler', 'select, insert, update', 'ordem_engine.inbox_answers, ordem_engine.inbox_retries'),

    ('ordem_operator', 'select', 'ordem_engine.lookups, ordem_engine.lookup_events'),
    ('ordem_operator', 'select, delete', 'ordem_engine.inbox_answers')
  ) as rights (role, privileges, objects);
drop function ordem_engine.grant_to_role(text, text, text);
