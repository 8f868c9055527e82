-- db::operations::resume
with gone as (
    delete from ordem_engine.paused_destinations where destination = $1::text returning paused_at
)
select paused_at, pg_notify('ordem_effects', '')::text from gone
