#!/usr/bin/env bash
# Measures Ordem from outside and prints one JSON line for each program measured:
#   receive_rps  requests answered per second while nothing is applied (the receiver alone)
#   e2e_eps      distinct events received AND applied per second, from the first request to the last applied event
# The requests are made and sent by crates/sandbox/examples/flood.rs: signed events of the source `loja`, a tenth of them
# twice, shuffled within 400 neighbours, over keep-alive connections, each sending its next once it has its answer.
#
# BENCH_ORDERS (10000; about three events each), CONNECTIONS (64), ROUNDS (1).
# REFERENCE=DIR   a folder with a program of your own to compare with: DIR/measure.sh measures it and prints such a JSON
#                 line last. It gets in its environment
#                   REQUESTS             the file of requests, as `flood --file` takes it
#                   DISTINCT, ORDERS     how many different events, and of how many orders, it holds
#                   CONNECTIONS          how many to send it over
#                   LOADGEN              the load generator: $LOADGEN --file $REQUESTS --addr HOST:PORT -c $CONNECTIONS
#                   LOJA_WEBHOOK_SECRET  what the requests are signed with
#                   DATABASE_URL_ADMIN   the server, on which it makes a database of its own
#                 Both programs run one after the other on the same server with the same requests, and the ratios are
#                 printed: a ratio means something, a bare rate only says how fast this machine is today.
set -euo pipefail
cd "$(dirname "$0")/../.."
orders=${BENCH_ORDERS:-10000} connections=${CONNECTIONS:-64} rounds=${ROUNDS:-1}

fail() { echo "bench: $*" >&2; exit 1; }

if [ "${1:-}" != inside ]; then
  if [ -n "${REFERENCE:-}" ]; then
    [ -x "$REFERENCE/measure.sh" ] || fail "$REFERENCE has no measure.sh that can be run"
    REFERENCE=$(cd "$REFERENCE" && pwd)
    export REFERENCE
  fi
  for tool in psql curl python3; do command -v "$tool" >/dev/null 2>&1 || fail "$tool is not installed"; done
  echo 'bench: building receiver applier ordem flood (release)'
  # Two builds: `--bins --example` in one would build the example with the features of all the packages.
  cargo build --release --bins -p receiver -p applier -p ordem
  cargo build --release -p sandbox --example flood
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

export LOJA_WEBHOOK_SECRET=${LOJA_WEBHOOK_SECRET:-segredo}
export LOADGEN=$bin/examples/flood REQUESTS=$work/requests ORDERS=$orders CONNECTIONS=$connections
made=$("$LOADGEN" --orders "$orders" --write "$REQUESTS")
DISTINCT=$(sed -n 's/.*"distinct": *\([0-9]*\).*/\1/p' <<<"$made")
export DISTINCT

listen=127.0.0.1:3918
admin=$DATABASE_URL_ADMIN
case $admin in *\?*) query="?${admin#*\?}" ;; *) query='' ;; esac
url=${admin%%\?*}
url=${url%/*}/ordem_bench$query

# What Ordem's programs get, and the reference does not. Runs in place of a subshell: its id is the program's.
ordem() {
  export DATABASE_URL="$url" ORDEM__RECEIVER__LISTEN=$listen ORDEM__RECEIVER__ADMIN=127.0.0.1:3919
  export ORDEM__APPLIER__ADMIN=127.0.0.1:3920 RUST_LOG="${RUST_LOG:-warn}"
  exec "$bin/$1" "${@:2}"
}
drop() { psql -Xq -d "$admin" -c 'drop database if exists ordem_bench with (force)' 2>/dev/null; }
fresh() {
  drop
  psql -Xq -d "$admin" -c 'create database ordem_bench'
  (ordem ordem migrate) >"$work/migrate.log" 2>&1 || { cat "$work/migrate.log" >&2; fail 'ordem migrate failed'; }
}
start() { # PROGRAM ADMIN-PORT
  (ordem "$1") >"$work/$1.log" 2>&1 &
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
    waiting=$(psql -XAtd "$url" -c 'select count(*) from ordem.events where outcome is null')
    [ "$waiting" != 0 ] || break
    sleep 0.1
  done
  t1=$(date +%s.%N)
  stop_all
  drop
  python3 - "$received" "$together" "$DISTINCT" "$t0" "$t1" <<'P'
import json, sys
received, together = (json.loads(line) for line in sys.argv[1:3])
distinct, t0, t1 = int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
for run in received, together:
    if any(not word.startswith('2') for word in run['answers']):
        sys.exit(f"bench: not everything was answered with 2xx, so no rate means anything: {run['answers']}")
print(json.dumps({'program': 'ordem', 'receive_rps': received['rps'], 'receive_p50_us': received['p50_us'],
                  'receive_p99_us': received['p99_us'], 'e2e_eps': round(distinct / (t1 - t0)),
                  'e2e_p99_us': together['p99_us'], 'distinct': distinct, 'requests': received['requests']}))
P
}

for round in $(seq "$rounds"); do
  echo "bench: round $round of $rounds, $DISTINCT distinct events, $connections connections"
  measure_ours | tee "$work/ours"
  [ -n "${REFERENCE:-}" ] || continue
  (cd "$work" && "$REFERENCE/measure.sh") >"$work/reference"
  python3 - "$work/ours" "$work/reference" <<'P'
import json, sys
ours, reference = (json.loads(open(path).readlines()[-1]) for path in sys.argv[1:3])
print(json.dumps({'program': 'reference', **reference}))
for name in ('receive_rps', 'e2e_eps'):
    print(f'  {name:15} {ours[name] / reference[name]:6.1f} times the reference')
print(f"  {'receive_p99':15} {ours['receive_p99_us'] / reference['receive_p99_us']:6.2f} of the reference")
P
done
