//! The receiver as its own process, against a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod app;
mod bad_input;
mod compressed;
mod contract;
mod database_away;
mod limits;
mod own_profile;
mod providers;
mod start_and_stop;
mod storing;
