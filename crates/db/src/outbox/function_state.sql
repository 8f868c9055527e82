-- db::outbox::function_state
select role.name::text as role,
       has_schema_privilege(role.name, schema.oid, 'usage') and has_function_privilege(role.name, function.oid, 'execute')
           as may
  from (select coalesce((select rolname from pg_roles where rolname = $3::text), current_user) as name) role
  join pg_namespace schema on schema.nspname = $1::text
  join pg_proc function on function.pronamespace = schema.oid and function.proname = $2::text
 where function.prokind = 'f' and function.proargtypes[0] = 'jsonb'::regtype
   and function.pronargs - function.pronargdefaults <= 1
