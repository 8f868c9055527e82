-- db::inbox::record_outcomes
insert into ordem_engine.inbox_outcomes (event_id, outcome, reason, status_from, status_to, attempts, applied_at)
select event_id, outcome, reason, status_from, status_to, attempts, $7::timestamptz
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int4[])
    as row (event_id, outcome, reason, status_from, status_to, attempts)
