-- db::operations::trouble
-- The condition is the one of the index inbox_outcomes_trouble.
select outcome, count(*) as events
  from ordem_engine.inbox_outcomes
 where outcome in ('dead', 'malformed', 'terminal_regression')
 group by outcome
 order by outcome
