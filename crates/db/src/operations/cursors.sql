-- db::operations::cursors
select source, name, value, updated_at from ordem_engine.cursors order by source, name
