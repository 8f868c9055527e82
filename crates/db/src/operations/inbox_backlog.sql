-- db::operations::inbox_backlog
select queue.queued, oldest.event_id as oldest, retries.retrying, retries.due
  from (select count(*) as queued from ordem_engine.inbox_queue) queue
 cross join (select count(*) as retrying, count(*) filter (where due_at <= $1::timestamptz) as due
               from ordem_engine.inbox_retries) retries
  left join (select event_id
               from ((select event_id from ordem_engine.inbox_queue order by event_id limit 1)
                     union all
                     (select event_id from ordem_engine.inbox_retries order by event_id limit 1)) firsts
              order by event_id
              limit 1) oldest on true
