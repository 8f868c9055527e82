-- db::operations::list_refused
select refusal_id, source, refused_at, reason, body_bytes, octet_length(body) = body_bytes as is_whole
  from ordem_engine.refused_requests
 where refusal_id >= $1::uuid and ($2::text is null or source = $2::text)
 order by refusal_id desc
 limit $3::int8
