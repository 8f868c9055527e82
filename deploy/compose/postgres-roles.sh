#!/usr/bin/env bash
# Runs once, in the PostgreSQL container, when its volume is empty: one login role for each program, a member of the group
# role whose rights the migrations define. `ordem migrate` makes the group roles too where they are missing.
set -euo pipefail

# The passwords are read from the environment by psql itself: they show in no process list and no log.
psql -X -q -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
set log_statement = 'none';
set log_min_error_statement = 'panic';
\getenv receiver RECEIVER_DB_PASSWORD
\getenv applier APPLIER_DB_PASSWORD
\getenv publisher PUBLISHER_DB_PASSWORD
\getenv reconciler RECONCILER_DB_PASSWORD
\getenv operator OPERATOR_DB_PASSWORD

create role ordem_receiver nologin;
create role ordem_applier nologin;
create role ordem_publisher nologin;
create role ordem_reconciler nologin;
create role ordem_operator nologin;

create role ordem_receiver_login login password :'receiver' in role ordem_receiver;
create role ordem_applier_login login password :'applier' in role ordem_applier;
create role ordem_publisher_login login password :'publisher' in role ordem_publisher;
create role ordem_reconciler_login login password :'reconciler' in role ordem_reconciler;
create role ordem_operator_login login password :'operator' in role ordem_operator;
SQL
