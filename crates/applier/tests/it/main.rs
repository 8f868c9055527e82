//! The applier against a real PostgreSQL: its pass in this process, and itself as processes of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod app;
mod applying;
mod direct;
mod keys;
mod pairs;
mod partitions;
mod poison;
mod processes;
