# Every target works on a fresh clone with Rust and either PostgreSQL binaries or Docker. The work is in deploy/local/*.sh.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo demo-stop test lint fmt fuzz bench bench-deliveries soak up down
export KEEP ORDERS SEED BENCH_ORDERS CONNECTIONS ROUNDS REFERENCE FUZZ_SECONDS

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Run the whole system on 10,000 orders, killing each daemon once, and check the ledger (ORDERS=n, SEED=n, KEEP=1 leaves it up)
	@deploy/local/demo.sh run

demo-stop: ## Stop what `make demo KEEP=1` left up
	@deploy/local/demo.sh stop

test: ## Run every test, with a PostgreSQL of its own
	@deploy/local/test.sh

lint: ## Check formatting, Clippy, scripts, migrations, Kubernetes and compose files
	@deploy/local/lint.sh

fuzz: ## Fuzz what reads strangers' bytes, where nightly and cargo-fuzz are installed (FUZZ_SECONDS=20 for each target)
	@deploy/local/fuzz.sh

fmt: ## Format the Rust code
	cargo fmt --all

bench: ## Measure receive and end-to-end rates (BENCH_ORDERS=n, CONNECTIONS=n, ROUNDS=n; REFERENCE=dir compares a program of your own)
	@deploy/local/bench.sh

bench-deliveries: ## Measure the publisher against a plain loop in the same run (fsync on)
	@deploy/local/with-postgres.sh -- cargo test --release -p publisher --test it speed -- --ignored --nocapture

soak: ## A destination down for ten minutes with 50,000 effects waiting (OUTAGE_SECONDS=600, OUTAGE_EFFECTS=50000)
	@OUTAGE_SECONDS=$${OUTAGE_SECONDS:-600} OUTAGE_EFFECTS=$${OUTAGE_EFFECTS:-50000} deploy/local/soak.sh

up: ## Build the images and start everything with docker compose; waits until it is healthy and prints the addresses
	@deploy/local/compose.sh up

down: ## Remove what `make up` started, with its data
	@deploy/local/compose.sh down
