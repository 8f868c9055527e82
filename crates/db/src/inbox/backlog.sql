-- db::inbox::backlog
-- The first 48 bits of an id are its milliseconds.
select (select count(*) from (select from ordem_engine.inbox_queue limit 1000000) queued) as queued,
       (select count(*) from (select from ordem_engine.inbox_retries limit 1000000) retries) as retries,
       (select to_timestamp(('x' || substr(replace(event_id::text, '-', ''), 1, 12))::bit(48)::int8 / 1000.0)
          from (select least((select event_id from ordem_engine.inbox_queue order by event_id limit 1),
                             (select event_id from ordem_engine.inbox_retries order by event_id limit 1)) as event_id
               ) oldest) as oldest_at
