-- db::outbox::function_state
-- A role that nobody uses calls nothing.
select role.name::text as role,
       has_schema_privilege(role.name, schema.oid, 'usage') and has_function_privilege(role.name, function.oid, 'execute')
           as may
  from (select coalesce((select r.rolname from pg_roles r
                          where r.rolname = $3::text
                            and (r.rolcanlogin or exists (select from pg_auth_members m where m.roleid = r.oid))),
                        current_user) as name) role
  join pg_namespace schema on schema.nspname = $1::text
  join pg_proc function on function.pronamespace = schema.oid and function.proname = $2::text
 where function.prokind = 'f' and function.proargtypes[0] = 'jsonb'::regtype
   and function.pronargs - function.pronargdefaults <= 1
