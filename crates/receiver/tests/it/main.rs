//! The receiver as its own process, against a real PostgreSQL.

mod app;
mod bad_input;
mod database_away;
mod limits;
mod start_and_stop;
mod storing;
