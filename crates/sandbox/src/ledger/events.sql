-- ledger::views::Views::read
select dedup_key::text, origin::text, outcome::text
from ordem.events
where source = $1 and starts_with(resource_id, $2)
