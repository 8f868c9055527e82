-- db::cursors::advance
-- Two leaders may overlap for a moment when one has lost its connection and does not know it yet: the cursor
-- never moves back, and each has stored what lies before its own value.
insert into ordem_engine.cursors as cursor (source, name, value, updated_at)
values ($1, $2, $3, $4)
on conflict (source, name) do update
   set value = greatest(cursor.value, excluded.value),
       updated_at = excluded.updated_at
returning value
