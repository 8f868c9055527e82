#!/usr/bin/env bash
# Writes .env, which docker-compose.yml reads: random passwords and secrets, for its owner's eyes only. Never overwrites one.
#   make-env.sh             writes .env beside docker-compose.yml
#   make-env.sh --stdout    prints a throw-away one
set -euo pipefail
file=$(cd "$(dirname "$0")/../.." && pwd)/.env

bytes() { LC_ALL=C od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
# Standard Webhooks writes a secret as base64 after whsec_.
whsec() { printf 'whsec_%s' "$(head -c 32 /dev/urandom | base64 | tr -d '\n')"; }

content() {
  cat <<EOF
# Made by deploy/local/make-env.sh for docker-compose.yml. Keep it out of version control.
COMPOSE_PROJECT_NAME=ordem

# The databases' log-ins: the owner, who migrates, and one for each program with its own rights only.
POSTGRES_PASSWORD=$(bytes 24)
RECEIVER_DB_PASSWORD=$(bytes 24)
APPLIER_DB_PASSWORD=$(bytes 24)
PUBLISHER_DB_PASSWORD=$(bytes 24)
RECONCILER_DB_PASSWORD=$(bytes 24)
OPERATOR_DB_PASSWORD=$(bytes 24)

# What the store and the fulfilment system share with Ordem.
LOJA_WEBHOOK_SECRET=$(bytes 32)
LOJA_API_TOKEN=$(bytes 32)
FULFILLMENT_SECRET=$(whsec)

# Further sources of config/sources.toml are off until their lines are taken in here; then: docker compose up -d
#PAGPOLAR_WEBHOOK_TOKEN=
#PAGPOLAR_API_URL=
#PAGPOLAR_API_TOKEN=
#STRIPE_WEBHOOK_SECRET=
#STRIPE_API_URL=
#STRIPE_API_TOKEN=
#WPLOJA_WEBHOOK_SECRET=
#WPLOJA_API_URL=
#WPLOJA_API_TOKEN=
EOF
}

case ${1:-} in
  --stdout) content ;;
  '')
    if [ -e "$file" ]; then echo 'make-env: .env is there already, kept'; exit 0; fi
    umask 077
    content >"$file.new.$$"
    # A link, not a move: of two that run at once, one wins and neither overwrites.
    if ln "$file.new.$$" "$file" 2>/dev/null; then echo 'make-env: wrote .env with random passwords and secrets'; fi
    rm -f "$file.new.$$"
    ;;
  *) echo 'usage: make-env.sh [--stdout]' >&2; exit 2 ;;
esac
