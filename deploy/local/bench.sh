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
  command -v curl >/dev/null 2>&1 || fail 'curl is not installed'
  echo 'bench: building the programs and the load generator (release)'
  # All that the images hold in one build: what is measured is what is shipped, and `make demo` needs no build of its own.
  cargo build --release --bins --example flood -p receiver -p applier -p publisher -p reconciler -p ordem -p sandbox
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
sql() { deploy/local/postgres.sh sql --dir "$POSTGRES_DIR" "$@"; }
drop() { sql 'drop database if exists ordem_bench with (force)' 2>/dev/null; }
fresh() {
  drop
  sql 'create database ordem_bench'
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

# BSD's date knows no %N.
now() { case $(date +%N) in *N) perl -MTime::HiRes=time -e 'printf "%.6f", time' ;; *) date +%s.%N ;; esac; }
field() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p"; }
all_stored() { # one that was turned away costs nothing: no rate means anything then
  local answers
  answers=$(sed -n 's/.*"answers":{\([^}]*\)}.*/\1/p' <<<"$1")
  if tr , '\n' <<<"$answers" | grep -qv '^"2[0-9][0-9]":'; then fail "not everything was answered with 2xx: $answers"; fi
}

measure_ours() {
  local received together t0 t1 waiting
  fresh
  start receiver 3919
  received=$(load)
  stop_all
  fresh
  start receiver 3919
  start applier 3920
  t0=$(now)
  together=$(load)
  while :; do
    waiting=$(sql --database ordem_bench 'select count(*) from ordem.events where outcome is null')
    [ "$waiting" != 0 ] || break
    kill -0 "${pids[1]}" 2>/dev/null || { tail -n 20 "$work/applier.log" >&2; fail 'the applier ended'; }
    sleep 0.1
  done
  t1=$(now)
  stop_all
  drop
  all_stored "$received"
  all_stored "$together"
  awk -v rps="$(field rps <<<"$received")" -v p50="$(field p50_us <<<"$received")" -v p99="$(field p99_us <<<"$received")" \
    -v requests="$(field requests <<<"$received")" -v e2e_p99="$(field p99_us <<<"$together")" \
    -v distinct="$DISTINCT" -v t0="$t0" -v t1="$t1" 'BEGIN {
      printf "{\"program\":\"ordem\",\"receive_rps\":%d,\"receive_p50_us\":%d,\"receive_p99_us\":%d,\"e2e_eps\":%d,", rps, p50, p99, distinct / (t1 - t0)
      printf "\"e2e_p99_us\":%d,\"distinct\":%d,\"requests\":%d}\n", e2e_p99, distinct, requests
    }'
}

for round in $(seq "$rounds"); do
  echo "bench: round $round of $rounds, $DISTINCT distinct events, $connections connections"
  measure_ours | tee "$work/ours"
  [ -n "${REFERENCE:-}" ] || continue
  (cd "$work" && "$REFERENCE/measure.sh") >"$work/reference"
  reference=$(tail -n 1 "$work/reference")
  echo "{\"program\":\"reference\",${reference#\{}"
  for name in receive_rps e2e_eps receive_p99_us; do
    awk -v name="$name" -v ours="$(field "$name" <"$work/ours")" -v reference="$(field "$name" <<<"$reference")" \
      'BEGIN { printf "  %-15s %6.2f times the reference\n", name, (reference > 0 ? ours / reference : 0) }'
  done
done
