-- db::operations::resource_times
select created_at, updated_at
  from ordem_engine.resources
 where source = $1::text and kind = $2::text and id = $3::text
