#!/usr/bin/env bash
# Fuzzes each target for FUZZ_SECONDS (20), one after the other; an input that takes a second has failed. Needs a nightly
# compiler and cargo-fuzz: without them it says so and ends well, for `make test` replays the seeds and what is near them
# through the same functions on the usual compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! cargo +nightly --version >/dev/null 2>&1; then echo 'fuzz: skipped, no nightly compiler (rustup toolchain install nightly)'; exit 0; fi
if ! cargo fuzz --version >/dev/null 2>&1; then echo 'fuzz: skipped, cargo-fuzz is not installed (cargo install cargo-fuzz)'; exit 0; fi

for seeds in fuzz/seeds/*; do
  target=$(basename "$seeds")
  echo "fuzz: $target, ${FUZZ_SECONDS:-20} s"
  mkdir -p "fuzz/corpus/$target" # what it finds on the way; grows from run to run, is not committed
  cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "$seeds" -- \
    -max_total_time="${FUZZ_SECONDS:-20}" -timeout=1 -rss_limit_mb=1024 -max_len=16384
done
echo 'fuzz: ok'
