-- db::resources::open
-- In the order of the primary key, from after $6 on.
select r.id
  from ordem_engine.resources r
 where r.source = $1 and r.kind = $2 and r.id > $6
   and r.status = any ($3::text[])
   and r.created_at >= $4
 order by r.id
 limit $5::int8
