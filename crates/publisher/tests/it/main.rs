//! The publisher against a real PostgreSQL and a destination that does what a test asks of it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where it fails, and a measurement prints what it found"
)]

mod claim;
mod conformance;
mod foreign;
mod guard;
mod hold;
mod https;
mod lanes;
mod lease;
mod limits;
mod looped;
mod mail;
mod message;
mod nats_consumer;
mod outage;
mod process;
mod request;
mod retry;
mod running;
mod sink;
mod speed;
mod sql;
mod stage;
