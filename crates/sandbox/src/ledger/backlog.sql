-- ledger::views::backlog
select
    (select count(*) from ordem.events where outcome is null) as inbox,
    (select count(*) from ordem.effects where state = 'pending') as outbox
