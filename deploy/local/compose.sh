#!/usr/bin/env bash
# compose.sh up: writes .env when there is none, builds, starts, waits until all is healthy and prints the addresses.
# compose.sh down: removes the containers, the network and the data.
# Uses `docker compose`, else `docker-compose`.
set -euo pipefail
cd "$(dirname "$0")/../.."
daemons='receiver applier publisher reconciler'

command -v docker >/dev/null 2>&1 || { echo 'compose: docker is not installed' >&2; exit 1; }
if docker compose version >/dev/null 2>&1; then
  compose() { docker compose "$@"; }
elif command -v docker-compose >/dev/null 2>&1; then
  compose() { docker-compose "$@"; }
else
  echo 'compose: neither docker compose nor docker-compose is installed' >&2
  exit 1
fi
docker info >/dev/null 2>&1 || { echo 'compose: the Docker engine does not answer' >&2; exit 1; }

unhealthy() { # prints the services that are not up and healthy
  local service id ids state
  for service in postgres $daemons sandbox; do
    ids=$(compose ps -q "$service" 2>/dev/null || true)
    if [ -z "$ids" ]; then echo "$service"; continue; fi
    for id in $ids; do
      state=$(docker inspect -f '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}' "$id" 2>/dev/null || true)
      [ "$state" = 'running healthy' ] || { echo "$service"; break; }
    done
  done
}

wait_healthy() {
  local deadline=$((SECONDS + 180)) missing
  while :; do
    missing=$(unhealthy | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$SECONDS" -ge "$deadline" ]; then
      echo "compose: not healthy after 180 s: $missing" >&2
      # shellcheck disable=SC2086  # a list of words
      compose logs --tail=30 migrate $missing >&2 || true
      return 1
    fi
    sleep 1
  done
}

address() { compose port "$1" "$2" 2>/dev/null | head -n 1; }

up() {
  local daemon port=9081
  deploy/local/make-env.sh
  compose build
  compose up -d
  echo 'compose: waiting until all services are healthy'
  wait_healthy
  echo
  echo "  webhooks   http://$(address receiver 8080)/webhooks/{source}"
  echo "  sandbox    http://$(address sandbox 8090)"
  for daemon in $daemons; do
    printf '  %-10s http://%s/healthz  /readyz  /metrics\n' "$daemon" "$(address "$daemon" "$port")"
    port=$((port + 1))
  done
  echo
  echo "  1,000 orders:  curl -H 'content-type: application/json' -d '{\"orders\": 1000}' http://$(address sandbox 8090)/run"
  echo "  the ledger:    curl http://$(address sandbox 8090)/ledger"
  echo '  make down removes it all, data included'
}

down() {
  # compose reads .env even to stop; without one, a throw-away one does.
  if [ -e .env ]; then compose down --volumes --remove-orphans; return; fi
  local env
  env=$(mktemp)
  deploy/local/make-env.sh --stdout >"$env"
  compose --env-file "$env" down --volumes --remove-orphans
  rm -f "$env"
}

case ${1:-} in
  up | down) "$1" ;;
  *) echo 'usage: compose.sh up|down' >&2; exit 2 ;;
esac
