//! The real binary against a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test may end where it stands")]

mod answers;
mod backfill;
mod check;
mod effects;
mod explain;
mod help;
mod hold;
mod ledger;
mod lists;
mod migrate;
mod outbox;
mod profile;
mod refused;
mod replay;
mod roles;
mod schema;
mod send;
mod status;
mod world;
