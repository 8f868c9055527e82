-- db::ledger::faults_told
select problem, subject, detail
  from ordem_engine.faults_told($1::text, $2::text)
 limit $3::int8
