-- Which publishers serve which destination at the moment: they share its limits. A row that is not renewed for a while
-- belongs to a process that is gone.
create table ordem_engine.publishers (
    destination text collate "C" not null,
    publisher_id uuid not null,
    seen_at timestamptz not null,
    primary key (destination, publisher_id)
) with (fillfactor = 50);

do $$
begin
    if exists (select from pg_roles where rolname = 'ordem_publisher') then
        grant select, insert, update, delete on ordem_engine.publishers to ordem_publisher;
    end if;
    if exists (select from pg_roles where rolname = 'ordem_operator') then
        grant select on ordem_engine.publishers to ordem_operator;
    end if;
end
$$;
