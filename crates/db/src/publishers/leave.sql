-- db::publishers::leave
delete from ordem_engine.publishers where destination = $1::text and publisher_id = $2::uuid
