#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, and always stops what it started: at the end, on failure, on Ctrl-C.
#
#   with-postgres.sh [--fast] [--database NAME] [--keep DIR] [--] COMMAND ARGS…
#
# COMMAND gets DATABASE_URL, TEST_DATABASE_URL and DATABASE_URL_ADMIN (see postgres.sh, which takes --fast and --database),
# POSTGRES_DIR (for `postgres.sh sql --dir`), no standard input, and a process group of its own, of which nothing survives
# it. Its exit code is passed on.
# --keep DIR leaves the server (and what COMMAND left running) up: `postgres.sh stop --dir DIR` stops the server.
# shellcheck disable=SC2317  # the functions that traps call look unreachable to it
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
keep='' options=()
while [ $# -gt 0 ]; do
  case $1 in
    --fast) options+=(--fast) ;;
    --database) options+=(--database "${2:?--database wants a name}"); shift ;;
    --keep) keep=${2:?--keep wants a folder}; shift ;;
    --) shift; break ;;
    -*) sed -n '2,/^# shellcheck/p' "$0" | sed '$d' | sed -n 's/^# \{0,1\}//p' >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || { echo 'with-postgres: no command given' >&2; exit 2; }
if [ -n "$keep" ] && [ -e "$keep/state" ]; then
  echo "with-postgres: $keep is still up from before: stop it first" >&2
  exit 1
fi
if [ -n "$keep" ]; then mkdir -p "$keep"; dir=$(cd "$keep" && pwd); else dir=$(mktemp -d "${TMPDIR:-/tmp}/ordem-state.XXXXXX"); fi

child='' signals=0 stay=''

# Two polite requests, then force.
on_signal() {
  signals=$((signals + 1))
  if [ -z "$child" ]; then exit 130; fi
  if [ "$signals" -gt 2 ]; then kill -KILL -- "-$child" 2>/dev/null || true; else kill -s "$1" -- "-$child" 2>/dev/null || true; fi
}

group_ends() {
  local tries=0
  while kill -0 -- "-$child" 2>/dev/null; do
    [ "$tries" -lt "$1" ] || return 1
    tries=$((tries + 1))
    sleep 0.1
  done
}

cleanup() {
  local code=$?
  trap '' INT TERM HUP
  trap - EXIT
  if [ -n "$stay" ] && [ "$signals" = 0 ]; then exit "$code"; fi
  if [ -n "$child" ] && ! group_ends 0; then
    kill -TERM -- "-$child" 2>/dev/null || true
    group_ends 50 || kill -KILL -- "-$child" 2>/dev/null || true
  fi
  "$here/postgres.sh" stop --dir "$dir" || true
  exit "$code"
}
trap cleanup EXIT
trap 'on_signal INT' INT
trap 'on_signal TERM' TERM
trap 'on_signal HUP' HUP

exports=$("$here/postgres.sh" start --dir "$dir" ${options[@]+"${options[@]}"})
eval "$exports"
export POSTGRES_DIR="$dir"
stay=$keep

set -m # a process group for the command
"$@" </dev/null &
child=$!
set +m
# A signal ends `wait` early: wait again until the command is gone.
while :; do
  code=0
  wait "$child" || code=$?
  kill -0 "$child" 2>/dev/null || break
done
exit "$code"
