-- db::lookups::backlog
select source, count(*) as lookups, count(*) filter (where last_error is not null) as failing, min(asked_at) as oldest
  from ordem_engine.lookups
 group by source
 order by source
