-- db::operations::list_effects
select effect_id, source, kind, resource_id, effect, destination, state, attempts, created_at, delivered_at, last_error
  from ordem.effects
 where effect_id >= $1::uuid
   and ($2::text is null or destination = $2::text)
   and ($3::text is null or state = $3::text)
 order by effect_id desc
 limit $4::int8
