-- demo::stage::free_prefix
select exists (select from ordem.events where source = $1) as seen
