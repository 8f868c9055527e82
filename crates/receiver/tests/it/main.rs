//! The receiver as its own process, against a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod app;
mod bad_input;
mod contract;
mod database_away;
mod limits;
mod start_and_stop;
mod storing;
