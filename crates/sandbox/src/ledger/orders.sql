-- ledger::views::Views::read
select id, status::text, version, total_minor::int8, currency, customer_email
from ordem.orders
where source = $1 and starts_with(id, $2)
