-- db::operations::recent_refusals
select source, reason, count(*) as samples
  from ordem_engine.refused_requests
 where refusal_id >= $1::uuid
 group by source, reason
 order by source, reason
