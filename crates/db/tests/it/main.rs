//! The statements and functions of `db` against a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod errors;
mod lookups;
mod migrate;
mod resources;
mod statements;
mod upgrade;
