-- ledger::views::Views::read
select resource_id, effect::text, state::text
from ordem.effects
where source = $1 and starts_with(resource_id, $2) and destination = $3
