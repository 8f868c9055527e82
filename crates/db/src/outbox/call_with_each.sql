-- db::outbox::call_with_each
select ordem_engine.call_with_each($1::text, $2::text, $3::jsonb[])
