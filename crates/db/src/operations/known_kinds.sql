-- db::operations::known_kinds
-- Jumps from kind to kind along the primary key instead of reading all rows.
with recursive known as (
    (select source, kind from ordem_engine.resources order by source, kind limit 1)
    union all
    select next.source, next.kind
      from known
     cross join lateral (
          select r.source, r.kind
            from ordem_engine.resources r
           where (r.source, r.kind) > (known.source, known.kind)
           order by r.source, r.kind
           limit 1
     ) next
)
select source, kind from known
