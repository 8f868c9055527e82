-- An applier may discard an effect that was never sent together with the one that undoes it (a flow's `cancels`): it looks
-- whether it was ever tried, and takes both out of the queue.
do $$
begin
    if exists (select from pg_roles where rolname = 'ordem_applier') then
        grant update, delete on ordem_engine.effect_queue to ordem_applier;
        grant select on ordem_engine.delivery_attempts to ordem_applier;
        grant insert on ordem_engine.effect_outcomes to ordem_applier;
    end if;
end
$$;
