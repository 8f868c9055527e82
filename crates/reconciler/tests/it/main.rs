//! The reconciler against a real PostgreSQL and a store whose every answer the test decides.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod daemon;
mod lists;
mod numbered;
mod outage;
mod refusals;
mod rounds;
mod stage;
mod store;
mod throttling;
mod watch;
mod windows;
mod world;
