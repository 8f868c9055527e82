-- The ledgers of keys end: a key that is older than any repetition to be expected goes, a few pages at a time.

-- How far each ledger has been walked. Appliers take turns by this row's lock.
create table ordem_engine.key_trims (
    ledger text primary key check (ledger in ('inbox_keys', 'effect_keys')),
    -- The heap page at which the next step begins.
    next_page bigint not null default 0 check (next_page >= 0),
    -- When the table's end was reached last.
    ended_at timestamptz
);
insert into ordem_engine.key_trims (ledger) values ('inbox_keys'), ('effect_keys');

-- Deletes, from the next `pages` pages of a ledger, the keys whose event or effect is older than `retention` and does
-- not wait for anything. Returns how many, and whether the walk has wrapped around: then there is nothing more to do
-- for now, since the next one begins an hour later, or since another session is at it.
-- It walks the heap, so that it needs no index on a table into which every event writes; deleting never waits for
-- whoever stores keys, and those wait at most for one step. No estimate may turn it to reading whole tables.
create function ordem_engine.trim_keys(ledger text, instant timestamptz, retention interval, pages int,
                                       out deleted bigint, out wrapped boolean)
    language plpgsql security definer set search_path = pg_catalog, pg_temp
    set enable_tidscan = on set enable_seqscan = off set enable_bitmapscan = off set enable_indexscan = on
    set enable_hashjoin = off set enable_mergejoin = off set enable_material = off set jit = off as
$$
declare
    place record;
    table_pages bigint;
    first_tid tid;
    end_tid tid;
    oldest uuid;
begin
    if ledger is null or ledger not in ('inbox_keys', 'effect_keys') then
        raise exception 'no ledger "%": it is inbox_keys or effect_keys', ledger using errcode = 'invalid_parameter_value';
    end if;
    if instant is null or retention is null or retention <= interval '0' then
        raise exception 'keys cannot be kept for %: give an instant and a length of time above 0', retention
            using errcode = 'invalid_parameter_value';
    end if;
    if pages is null or pages not between 1 and 10000 then
        raise exception 'no step of % pages: it is 1 to 10000', pages using errcode = 'invalid_parameter_value';
    end if;
    deleted := 0;
    wrapped := true;
    select t.next_page, t.ended_at into place
      from ordem_engine.key_trims t
     where t.ledger = trim_keys.ledger
       for update skip locked;
    -- An end that lies ahead was written by a wrong clock: it holds nobody up.
    if not found or place.next_page = 0 and place.ended_at <= instant and instant < place.ended_at + interval '1 hour' then
        return;
    end if;
    table_pages := pg_relation_size(('ordem_engine.' || ledger)::regclass) / current_setting('block_size')::bigint;
    first_tid := format('(%s,0)', least(place.next_page, table_pages))::tid;
    end_tid := format('(%s,0)', least(place.next_page + pages, table_pages))::tid;
    -- Before 1970 there are no ids, and what would be their time makes none that compares as earlier.
    oldest := ordem_engine.first_id(greatest(instant - retention, timestamptz 'epoch'));
    if ledger = 'inbox_keys' then
        delete from ordem_engine.inbox_keys k
         where k.ctid >= first_tid and k.ctid < end_tid and k.event_id < oldest
           and not exists (select from ordem_engine.inbox_queue q where q.event_id = k.event_id)
           and not exists (select from ordem_engine.inbox_retries r where r.event_id = k.event_id)
           and not exists (select from ordem_engine.lookup_events w where w.event_id = k.event_id);
    else
        delete from ordem_engine.effect_keys k
         where k.ctid >= first_tid and k.ctid < end_tid and k.effect_id < oldest
           and not exists (select from ordem_engine.effect_queue q where q.effect_id = k.effect_id);
    end if;
    get diagnostics deleted = row_count;
    wrapped := place.next_page + pages >= table_pages;
    update ordem_engine.key_trims t
       set next_page = case when wrapped then 0 else place.next_page + pages end,
           ended_at = case when wrapped then instant else t.ended_at end
     where t.ledger = trim_keys.ledger;
end
$$;

revoke all on function ordem_engine.trim_keys(text, timestamptz, interval, int) from public;
do $$
begin
    if exists (select from pg_roles where rolname = 'ordem_applier') then
        grant execute on function ordem_engine.trim_keys(text, timestamptz, interval, int) to ordem_applier;
    end if;
    if exists (select from pg_roles where rolname = 'ordem_operator') then
        grant select on ordem_engine.key_trims to ordem_operator;
    end if;
end
$$;
