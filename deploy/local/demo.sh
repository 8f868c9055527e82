#!/usr/bin/env bash
# demo.sh run: builds, gets a PostgreSQL with a fresh database, and lets `sandbox demo` run the whole system on it.
# demo.sh stop: stops what KEEP=1 left up.
# Environment: ORDERS, SEED, KEEP=1. The exit code of `run` is that of `sandbox demo`.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=deploy/local state=.ordem/demo

run() {
  local target arguments=() keep=()
  [ ! -e "$state/state" ] || { echo "demo: one is still up from KEEP=1: make demo-stop" >&2; exit 1; }
  echo 'demo: building receiver applier publisher reconciler ordem sandbox (release)'
  cargo build --release --bins -p receiver -p applier -p publisher -p reconciler -p ordem -p sandbox
  target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
  arguments+=(--bin-dir "$target/release" --orders "${ORDERS:-10000}")
  if [ -n "${SEED:-}" ]; then arguments+=(--seed "$SEED"); fi
  if [ "${KEEP:-}" = 1 ]; then
    keep=(--keep "$state")
    arguments+=(--keep)
    # Where `sandbox demo --keep` writes the process ids of what it leaves running, one a line.
    mkdir -p "$state"
    export ORDEM_DEMO_PIDS="$PWD/$state/pids"
  fi
  local code=0
  # shellcheck disable=SC2016  # the inner shell expands it
  "$here/with-postgres.sh" --database ordem_demo ${keep[@]+"${keep[@]}"} -- \
    bash -c 'exec "$0" demo --database-url "$DATABASE_URL" "$@"' "$target/release/sandbox" "${arguments[@]}" || code=$?
  if [ -e "$state/state" ]; then echo 'demo: left up, PostgreSQL included; to stop it all: make demo-stop'; fi
  exit "$code"
}

stop() {
  [ -e "$state/state" ] || { echo 'demo: nothing is up'; return 0; }
  local pid
  if [ -f "$state/pids" ]; then
    while read -r pid _; do stop_process "$pid"; done <"$state/pids"
  fi
  "$here/postgres.sh" stop --dir "$state"
  echo 'demo: stopped'
}

# The daemons drain for 20 seconds at most. A process id may have gone to another program since: look at the name first.
stop_process() {
  local tries=0
  case $(ps -o comm= -p "$1" 2>/dev/null) in
    *receiver | *applier | *publisher | *reconciler | *sandbox) ;;
    *) return 0 ;;
  esac
  kill -TERM "$1" 2>/dev/null || return 0
  while kill -0 "$1" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 250 ]; then kill -KILL "$1" 2>/dev/null || true; return 0; fi
    sleep 0.1
  done
}

case ${1:-} in
  run | stop) "$1" ;;
  *) echo 'usage: demo.sh run|stop' >&2; exit 2 ;;
esac
