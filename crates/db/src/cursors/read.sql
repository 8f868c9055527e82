-- db::cursors::read
select value
  from ordem_engine.cursors
 where source = $1 and name = $2
