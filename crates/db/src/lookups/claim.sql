-- db::lookups::claim
-- A lease that ran out is claimed as any other: whoever had it has lost it by its token.
with due as materialized (
    select lookup_id
      from ordem_engine.lookups
     where source = $1::text and due_at <= $2::timestamptz
     order by due_at
     limit $3::int8
       for update skip locked
), leased as (
    update ordem_engine.lookups l
       set lease_token = $4::uuid, due_at = $5::timestamptz, attempts = l.attempts + 1
      from due
     where l.lookup_id = due.lookup_id
    returning l.lookup_id, l.fetch_name, l.resource_id, l.asked_at, l.attempts
)
select lookup_id, fetch_name, resource_id, asked_at, attempts,
       array(select distinct w.expect from ordem_engine.lookup_events w
              where w.lookup_id = leased.lookup_id and w.expect is not null order by w.expect) as expected
  from leased
