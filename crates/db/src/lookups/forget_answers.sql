-- db::lookups::forget_answers
delete from ordem_engine.inbox_answers where event_id = any ($1::uuid[])
