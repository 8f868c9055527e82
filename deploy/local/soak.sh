#!/usr/bin/env bash
# Long tests that `make test` runs in a short form. OUTAGE_SECONDS, OUTAGE_EFFECTS: see crates/publisher/tests/it/outage.rs.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --bins -p publisher
cargo test --release -p publisher --test it --no-run
exec deploy/local/with-postgres.sh -- cargo test --release -p publisher --test it outage -- --nocapture
