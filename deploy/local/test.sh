#!/usr/bin/env bash
# Every test of the workspace, with a PostgreSQL of its own (fsync off). With CI set: the profile `ci` of nextest.
set -euo pipefail
cd "$(dirname "$0")/../.."
locked=${CI:+--locked} # CI takes Cargo.lock as it is; at a desk it may follow a changed manifest

# The whole-system tests start the real programs, which they look for beside themselves in target/debug.
echo 'test: building the programs'
cargo build ${locked:+"$locked"} --workspace --bins

if cargo nextest --version >/dev/null 2>&1; then
  echo 'test: examples in the documentation'
  cargo test ${locked:+"$locked"} --workspace --doc --quiet
  echo 'test: cargo nextest'
  cargo nextest run ${locked:+"$locked"} --workspace --no-run # compile errors first, before a server is started
  deploy/local/with-postgres.sh --fast -- cargo nextest run ${locked:+"$locked"} --workspace ${CI:+--profile ci}
else
  echo 'test: cargo test (cargo-nextest is not installed)'
  cargo test ${locked:+"$locked"} --workspace --no-run
  deploy/local/with-postgres.sh --fast -- cargo test ${locked:+"$locked"} --workspace --no-fail-fast
fi
