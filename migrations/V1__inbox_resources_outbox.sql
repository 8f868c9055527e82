-- Ordem's first schema: inbox, resources, outbox, cursors.
-- Tables live in `ordem_engine` and may change with any migration; the views in `ordem` are the stable face.
-- Ids are UUIDv7 made by the daemons: they grow with time, so big tables are partitioned by id and a look-up by
-- id touches one partition. Text that is compared or indexed uses the "C" collation: bytes, not languages.

create schema if not exists ordem_engine;
create schema if not exists ordem;

-- ---------------------------------------------------------------- inbox

-- Every accepted event with the bytes as received. Written once by the receiver (or reconciler), never updated.
create table ordem_engine.inbox_events (
    event_id uuid not null,
    source text collate "C" not null,
    dedup_key text collate "C",
    event_type text,
    kind text collate "C",
    resource_id text collate "C",
    origin text not null check (origin in ('webhook', 'reconcile', 'backfill')),
    received_at timestamptz not null,
    headers text,
    body bytea not null,
    primary key (event_id)
) partition by range (event_id);

-- The story of one resource is found by its id.
create index inbox_events_resource on ordem_engine.inbox_events (resource_id) where resource_id is not null;

-- The dedup ledger: whoever inserts a key first owns the event.
create table ordem_engine.inbox_keys (
    source text collate "C" not null,
    dedup_key text collate "C" not null,
    event_id uuid not null,
    -- First eight bytes of the body's SHA-256: tells a repetition from another body under the same key.
    body_hash bigint not null,
    primary key (source, dedup_key)
);

-- Events nobody has looked at yet. A row is deleted when it is claimed, in the claimer's transaction.
create table ordem_engine.inbox_queue (
    event_id uuid primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);

-- Events that failed and wait for their next attempt: away from the hot queue.
create table ordem_engine.inbox_retries (
    event_id uuid primary key,
    due_at timestamptz not null,
    attempts integer not null check (attempts >= 0),
    last_error text
);
create index inbox_retries_due on ordem_engine.inbox_retries (due_at);

-- What became of each event. Appended once; an operator's replay removes a row.
create table ordem_engine.inbox_outcomes (
    event_id uuid not null,
    outcome text not null check (outcome in
        ('applied', 'stale', 'terminal_regression', 'ignored', 'test', 'malformed', 'fetching', 'dead')),
    reason text,
    -- The transition of the row's status, where there was one.
    status_from text,
    status_to text,
    attempts integer not null default 0,
    applied_at timestamptz not null,
    primary key (event_id)
) partition by range (event_id);

-- Dead and malformed events are what an operator looks for.
create index inbox_outcomes_trouble on ordem_engine.inbox_outcomes (outcome, event_id)
    where outcome in ('dead', 'malformed', 'terminal_regression');

-- A sample of the requests whose signature was refused: never part of the inbox, claims no key.
create table ordem_engine.refused_requests (
    refusal_id uuid primary key,
    source text collate "C" not null,
    refused_at timestamptz not null,
    reason text not null,
    headers text not null,
    -- At most 64 KiB of it; body_bytes tells its real size.
    body bytea not null,
    body_bytes bigint not null
);

-- ---------------------------------------------------------------- resources

-- One row per resource: the fold of all its facts.
create table ordem_engine.resources (
    source text collate "C" not null,
    kind text collate "C" not null,
    id text collate "C" not null,
    status text not null,
    version_major bigint not null,
    version_rank smallint not null,
    -- [[[major, rank], status], …] in the order of facts: what the fold is made of.
    history jsonb not null,
    -- {name: value} and {name: [major, rank]} of the fact that told it.
    fields jsonb not null,
    field_versions jsonb not null,
    -- Names of the effects written, and the sequence of the next one.
    effects_written jsonb not null,
    next_effect integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (source, kind, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- ---------------------------------------------------------------- outbox

-- Every effect, written in the transaction that changed the row. Never updated.
create table ordem_engine.effects (
    effect_id uuid not null,
    source text collate "C" not null,
    kind text collate "C" not null,
    resource_id text collate "C" not null,
    effect text collate "C" not null,
    effect_key text collate "C" not null,
    destination text collate "C" not null,
    -- Place among the effects of its resource: deliveries keep this order.
    sequence integer not null,
    -- The event whose fact made it due.
    event_id uuid not null,
    -- The row as it was when the effect was born.
    status text not null,
    version_major bigint not null,
    version_rank smallint not null,
    fields jsonb not null,
    created_at timestamptz not null,
    primary key (effect_id)
) partition by range (effect_id);

-- At most once per resource, effect and key, for as long as this ledger lives.
create table ordem_engine.effect_keys (
    source text collate "C" not null,
    kind text collate "C" not null,
    resource_id text collate "C" not null,
    effect text collate "C" not null,
    effect_key text collate "C" not null,
    effect_id uuid not null,
    primary key (source, kind, resource_id, effect, effect_key)
);

-- Effects not yet delivered. A row is deleted when its effect is delivered, dead or discarded.
create table ordem_engine.effect_queue (
    effect_id uuid primary key,
    destination text collate "C" not null,
    -- Hash of (source, kind, resource id): the effects of one lane go to one destination one after the other.
    lane bigint not null,
    sequence integer not null,
    -- Not before this instant: the next attempt, or the end of the lease while lease_token is set.
    due_at timestamptz not null,
    -- Attempts begun.
    attempts integer not null default 0 check (attempts >= 0),
    lease_token uuid,
    last_error text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index effect_queue_due on ordem_engine.effect_queue (destination, due_at);
create index effect_queue_lane on ordem_engine.effect_queue (destination, lane, sequence);

-- How each effect ended. Appended once; an operator's requeue removes a row.
create table ordem_engine.effect_outcomes (
    effect_id uuid not null,
    state text not null check (state in ('delivered', 'dead', 'discarded')),
    attempts integer not null,
    finished_at timestamptz not null,
    last_error text,
    primary key (effect_id)
) partition by range (effect_id);
create index effect_outcomes_dead on ordem_engine.effect_outcomes (effect_id) where state = 'dead';

-- Each call to a destination.
create table ordem_engine.delivery_attempts (
    effect_id uuid not null,
    attempt integer not null,
    started_at timestamptz not null,
    duration_ms integer not null,
    -- delivered, transient, permanent
    result text not null,
    -- Status of the answer, where there was one.
    http_status integer,
    error text,
    response_excerpt text
) partition by range (effect_id);
create index delivery_attempts_effect on ordem_engine.delivery_attempts (effect_id);

-- Destinations that an operator paused.
create table ordem_engine.paused_destinations (
    destination text collate "C" primary key,
    paused_at timestamptz not null,
    reason text
);

-- ---------------------------------------------------------------- reconciliation

-- How far the reconciler has read a source's API.
create table ordem_engine.cursors (
    source text collate "C" not null,
    name text collate "C" not null,
    value timestamptz not null,
    updated_at timestamptz not null,
    primary key (source, name)
);

-- ---------------------------------------------------------------- partitions

-- The smallest UUIDv7 of an instant.
create function ordem_engine.first_id(instant timestamptz) returns uuid
    language sql immutable strict parallel safe
    return (lpad(to_hex((extract(epoch from instant) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

-- Makes the weekly partitions around `instant` that do not exist yet, and drops those that ended more than
-- `retention` ago and hold nothing that still waits. Returns how many were made and dropped.
create function ordem_engine.keep_partitions(instant timestamptz, retention interval, out made int, out dropped int)
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

select ordem_engine.keep_partitions(now(), interval '100 years');

-- ---------------------------------------------------------------- the stable face

create view ordem.events as
select e.event_id, e.source, e.dedup_key, e.event_type, e.kind, e.resource_id, e.origin, e.received_at,
       o.applied_at, o.outcome, coalesce(o.attempts, r.attempts, 0) as attempts, coalesce(r.last_error, o.reason) as last_error
  from ordem_engine.inbox_events e
  left join ordem_engine.inbox_outcomes o on o.event_id = e.event_id
  left join ordem_engine.inbox_retries r on r.event_id = e.event_id;

create view ordem.resources as
select source, kind, id, status, version_major as version, fields, updated_at
  from ordem_engine.resources;

create view ordem.orders as
select source, kind, id, status, version_major as version, fields, updated_at,
       (fields ->> 'total_minor')::bigint as total_minor,
       fields ->> 'currency' as currency,
       fields ->> 'customer_email' as customer_email
  from ordem_engine.resources
 where kind = 'order';

create view ordem.effects as
select e.effect_id, e.source, e.kind, e.resource_id, e.effect, e.destination, coalesce(o.state, 'pending') as state,
       coalesce(o.attempts, q.attempts, 0) as attempts, e.created_at,
       case when o.state = 'delivered' then o.finished_at end as delivered_at,
       coalesce(q.last_error, o.last_error) as last_error
  from ordem_engine.effects e
  left join ordem_engine.effect_outcomes o on o.effect_id = e.effect_id
  left join ordem_engine.effect_queue q on q.effect_id = e.effect_id;

-- ---------------------------------------------------------------- roles

-- One group role per binary. Making them needs the right to; without it an administrator makes them
-- beforehand and this grants, or all binaries run as the owner.
do $$
declare
    role text;
begin
    foreach role in array array['ordem_receiver', 'ordem_applier', 'ordem_publisher', 'ordem_reconciler', 'ordem_operator'] loop
        if not exists (select from pg_roles where rolname = role) then
            begin
                execute format('create role %I nologin', role);
            exception
                when insufficient_privilege then raise notice 'role % not made: no right to', role;
                when duplicate_object or unique_violation then null;
            end;
        end if;
    end loop;
end
$$;

create function ordem_engine.grant_to_role(role text, privileges text, objects text) returns void language plpgsql as
$$
begin
    if exists (select from pg_roles where rolname = role) then
        execute format('grant %s on %s to %I', privileges, objects, role);
    end if;
end
$$;

select ordem_engine.grant_to_role(role, 'usage', 'schema ordem_engine, ordem'),
       ordem_engine.grant_to_role(role, 'select', 'ordem.events, ordem.resources, ordem.orders, ordem.effects')
  from unnest(array['ordem_receiver', 'ordem_applier', 'ordem_publisher', 'ordem_reconciler', 'ordem_operator']) role;

select ordem_engine.grant_to_role(role, privileges, objects)
  from (values
    ('ordem_receiver', 'select, insert', 'ordem_engine.inbox_keys'),
    ('ordem_receiver', 'select, insert', 'ordem_engine.inbox_events'),
    ('ordem_receiver', 'select, insert', 'ordem_engine.inbox_queue'),
    ('ordem_receiver', 'select, insert, delete', 'ordem_engine.refused_requests'),

    ('ordem_applier', 'select', 'ordem_engine.inbox_events'),
    ('ordem_applier', 'select, insert, update, delete', 'ordem_engine.inbox_queue, ordem_engine.inbox_retries'),
    ('ordem_applier', 'select, insert', 'ordem_engine.inbox_outcomes'),
    ('ordem_applier', 'select, insert, update', 'ordem_engine.resources'),
    ('ordem_applier', 'select, insert', 'ordem_engine.effect_keys, ordem_engine.effects, ordem_engine.effect_queue'),
    ('ordem_applier', 'execute', 'function ordem_engine.keep_partitions(timestamptz, interval)'),

    ('ordem_publisher', 'select', 'ordem_engine.effects'),
    ('ordem_publisher', 'select, update, delete', 'ordem_engine.effect_queue'),
    ('ordem_publisher', 'select, insert', 'ordem_engine.effect_outcomes, ordem_engine.delivery_attempts'),
    ('ordem_publisher', 'select', 'ordem_engine.paused_destinations'),

    ('ordem_reconciler', 'select, insert', 'ordem_engine.inbox_keys, ordem_engine.inbox_events, ordem_engine.inbox_queue'),
    ('ordem_reconciler', 'select', 'ordem_engine.resources'),
    ('ordem_reconciler', 'select, insert, update', 'ordem_engine.cursors'),

    ('ordem_operator', 'select', 'all tables in schema ordem_engine'),
    ('ordem_operator', 'insert, update, delete', 'ordem_engine.inbox_queue, ordem_engine.inbox_retries, ordem_engine.effect_queue'),
    ('ordem_operator', 'insert', 'ordem_engine.inbox_keys, ordem_engine.inbox_events'),
    ('ordem_operator', 'insert, delete', 'ordem_engine.inbox_outcomes, ordem_engine.effect_outcomes'),
    ('ordem_operator', 'insert, update, delete', 'ordem_engine.paused_destinations, ordem_engine.cursors, ordem_engine.refused_requests')
  ) as rights (role, privileges, objects);
select ordem_engine.grant_to_role(role, 'select', 'ordem_engine.schema_history')
  from unnest(array['ordem_receiver', 'ordem_applier', 'ordem_publisher', 'ordem_reconciler', 'ordem_operator']) role;
revoke all on function ordem_engine.keep_partitions(timestamptz, interval) from public;
drop function ordem_engine.grant_to_role(text, text, text);
