-- db::partitions::keep
select made, dropped from ordem_engine.keep_partitions($1::timestamptz, make_interval(secs => $2::float8))
