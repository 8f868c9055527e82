-- db::operations::refused_samples
select refusal_id, source, refused_at, reason, headers, body, body_bytes
  from ordem_engine.refused_requests
 where refusal_id > $1::uuid and refusal_id >= $2::uuid and ($3::text is null or source = $3::text)
 order by refusal_id
 limit $4::int8
