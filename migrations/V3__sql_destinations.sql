-- Destinations of kind `sql`: functions of this database that take one effect each.

-- Calls the function with each message, in their order, with the caller's own rights. Daemons hold the planner to
-- index look-ups for their queues; what users write is planned as anywhere else.
create function ordem_engine.call_with_each(schema_name text, function_name text, messages jsonb[]) returns void
    language plpgsql
    set enable_seqscan = on set enable_bitmapscan = on set enable_hashjoin = on set enable_mergejoin = on
    set enable_material = on set plan_cache_mode = auto as
$$
begin
    execute format('select %I.%I(message) from unnest($1) with ordinality as each (message, place) order by place',
        schema_name, function_name) using messages;
end
$$;

-- The rows of a view, or of a function without arguments, that tells what is wrong in somebody's books.
create function ordem_engine.faults_told(schema_name text, name text)
    returns table (problem text, subject text, detail text) language plpgsql as
$$
begin
    return query execute format('select problem::text, subject::text, detail::text from %I.%I%s', schema_name, name,
        case when exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                           where n.nspname = schema_name and c.relname = name) then '' else '()' end);
end
$$;

-- The effects that somebody's books have, by a view, table or function with a column `effect_id`.
create function ordem_engine.effects_told(schema_name text, name text) returns table (effect_id uuid) language plpgsql as
$$
begin
    return query execute format('select told.effect_id::uuid from %I.%I%s as told', schema_name, name,
        case when exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                           where n.nspname = schema_name and c.relname = name) then '' else '()' end);
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
-- What is booked in the applier's own transaction is delivered in it.
select ordem_engine.grant_to_role('ordem_applier', 'insert', 'ordem_engine.effect_outcomes');
drop function ordem_engine.grant_to_role(text, text, text);
