-- db::operations::forget_refused
delete from ordem_engine.refused_requests where refusal_id = any ($1::uuid[])
