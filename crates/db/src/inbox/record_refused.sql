-- db::inbox::record_refused
with gone as (
    delete from ordem_engine.refused_requests
     where refusal_id in (
           select refusal_id from ordem_engine.refused_requests
            where source = $2::text order by refusal_id desc offset $8::int8)
)
insert into ordem_engine.refused_requests (refusal_id, source, refused_at, reason, headers, body, body_bytes)
values ($1::uuid, $2::text, $3::timestamptz, $4::text, $5::text, $6::bytea, $7::int8)
