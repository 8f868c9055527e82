#!/usr/bin/env bash
# Measures Ordem from outside and prints one JSON line for each program measured:
#   receive_rps  requests answered per second while nothing is applied (the receiver alone)
#   e2e_eps      distinct events received AND applied per second, from the first request to the last applied event
#
# SEED_BENCH=DIR   the folder of the reference program: gen_load.py (writes the request file), loadgen/ (sends it) and
#                  run_seed.sh (measures the reference). Both programs then get the same requests, connections and server,
#                  one after the other, and the ratios are printed: a ratio means something, a bare rate only says how fast
#                  this machine is today.
# REQUESTS=FILE LOADGEN=PROGRAM   instead of SEED_BENCH: requests ready-made ("length\nbytes" each, with DISTINCT=n events).
# BENCH_ORDERS (10000), CONNECTIONS (64), ROUNDS (1).
set -euo pipefail
cd "$(dirname "$0")/../.."
orders=${BENCH_ORDERS:-10000} connections=${CONNECTIONS:-64} rounds=${ROUNDS:-1}

fail() { echo "bench: $*" >&2; exit 1; }

if [ "${1:-}" != inside ]; then
  if [ -n "${SEED_BENCH:-}" ]; then
    SEED_BENCH=$(cd "$SEED_BENCH" && pwd)
    for part in gen_load.py loadgen run_seed.sh; do [ -e "$SEED_BENCH/$part" ] || fail "$SEED_BENCH has no $part"; done
    export SEED_BENCH
  elif [ -z "${REQUESTS:-}" ] || [ -z "${LOADGEN:-}" ]; then
    fail 'set SEED_BENCH=DIR (the folder of the reference program), or REQUESTS=FILE and LOADGEN=PROGRAM'
  fi
  for tool in psql curl python3; do command -v "$tool" >/dev/null 2>&1 || fail "$tool is not installed"; done
  echo 'bench: building receiver applier ordem (release)'
  cargo build --release --bins -p receiver -p applier -p ordem
  exec deploy/local/with-postgres.sh -- deploy/local/bench.sh inside
fi

# ---- inside with-postgres.sh: fsync on, one server for both programs

target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
bin=$target/release
work=$(mktemp -d)
pids=()
stop_all() {
  local pid
  for pid in ${pids[@]+"${pids[@]}"}; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in ${pids[@]+"${pids[@]}"}; do wait "$pid" 2>/dev/null || true; done
  pids=()
}
trap 'stop_all; rm -rf "$work"' EXIT

# Its own target folder and a copy: the folder may be read-only, and lies outside the workspace.
if [ -n "${SEED_BENCH:-}" ]; then
  cp -r "$SEED_BENCH/loadgen" "$work/loadgen"
  chmod -R u+w "$work/loadgen"
  echo 'bench: building the load generator'
  CARGO_TARGET_DIR=$target/bench-loadgen cargo build -q --release --manifest-path "$work/loadgen/Cargo.toml"
  export LOADGEN=$target/bench-loadgen/release/loadgen
  python3 "$SEED_BENCH/gen_load.py" --orders "$orders" --out "$work/load" >"$work/made"
  REQUESTS=$work/load.0
  DISTINCT=$(sed -n 's/.*"distinct": *\([0-9]*\).*/\1/p' "$work/made")
fi
[ -n "${DISTINCT:-}" ] || fail 'DISTINCT=n is missing: how many events REQUESTS holds'

export LOJA_WEBHOOK_SECRET=${LOJA_WEBHOOK_SECRET:-segredo}
listen=127.0.0.1:3918
export ORDEM__RECEIVER__LISTEN=$listen ORDEM__RECEIVER__ADMIN=127.0.0.1:3919 ORDEM__APPLIER__ADMIN=127.0.0.1:3920 RUST_LOG=${RUST_LOG:-warn}
admin=$DATABASE_URL_ADMIN
case $admin in *\?*) query="?${admin#*\?}" ;; *) query='' ;; esac
export DATABASE_URL=${admin%%\?*}
export DATABASE_URL=${DATABASE_URL%/*}/ordem_bench$query

fresh() {
  psql -Xq -d "$admin" -c 'drop database if exists ordem_bench with (force)' -c 'create database ordem_bench' 2>/dev/null
  "$bin/ordem" migrate >"$work/migrate.log" 2>&1 || { cat "$work/migrate.log" >&2; fail 'ordem migrate failed'; }
}
start() { # PROGRAM ADMIN-PORT
  "$bin/$1" >"$work/$1.log" 2>&1 &
  pids+=($!)
  local tries=0
  until curl -fs "http://127.0.0.1:$2/readyz" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { tail -n 20 "$work/$1.log" >&2; fail "$1 did not become ready"; }
    sleep 0.1
  done
}
load() { "$LOADGEN" --file "$REQUESTS" --addr "$listen" -c "$connections"; }

measure_ours() {
  local received together t0 t1 waiting
  fresh
  start receiver 3919
  received=$(load)
  stop_all
  fresh
  start receiver 3919
  start applier 3920
  t0=$(date +%s.%N)
  together=$(load)
  while :; do
    waiting=$(psql -XAtd "$DATABASE_URL" -c 'select count(*) from ordem.events where outcome is null')
    [ "$waiting" != 0 ] || break
    sleep 0.1
  done
  t1=$(date +%s.%N)
  stop_all
  psql -Xq -d "$admin" -c 'drop database if exists ordem_bench with (force)'
  python3 - "$received" "$together" "$DISTINCT" "$t0" "$t1" <<'P'
import json, sys
received, together, distinct, t0, t1 = json.loads(sys.argv[1]), json.loads(sys.argv[2]), *map(float, sys.argv[3:6])
print(json.dumps({'program': 'ordem', 'receive_rps': received['rps'], 'receive_p99_us': received['p99_us'],
                  'e2e_eps': round(distinct / (t1 - t0)), 'e2e_p99_us': together['p99_us'], 'distinct': int(distinct)}))
P
}

for round in $(seq "$rounds"); do
  echo "bench: round $round of $rounds, $DISTINCT distinct events, $connections connections"
  measure_ours | tee "$work/ours"
  [ -n "${SEED_BENCH:-}" ] || continue
  (cd "$work" && DATABASE_URL_ADMIN=$admin CONNECTIONS=$connections "$SEED_BENCH/run_seed.sh" "$orders") >"$work/reference"
  python3 - "$work/ours" "$work/reference" <<'P'
import json, sys
ours, reference = (json.loads(open(path).readlines()[-1]) for path in sys.argv[1:3])
print(json.dumps({'program': 'reference', **reference}))
for name in ('receive_rps', 'e2e_eps'):
    print(f'  {name:15} {ours[name] / reference[name]:6.1f} times the reference')
print(f"  {'receive_p99':15} {ours['receive_p99_us'] / reference['receive_p99_us']:6.2f} of the reference")
P
done
