//! The reconciler against a real PostgreSQL and a store whose every answer the test decides.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod daemon;
mod outage;
mod refusals;
mod rounds;
mod store;
mod throttling;
mod windows;
mod world;
