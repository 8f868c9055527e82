-- db::schema_state
select max(version)::int4 from ordem_engine.schema_history
