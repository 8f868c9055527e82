-- db::keys::trim
select deleted, wrapped
  from ordem_engine.trim_keys($1::text, $2::timestamptz, make_interval(secs => $3::float8), $4::int4)
