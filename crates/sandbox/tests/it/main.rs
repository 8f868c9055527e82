//! The sandbox from outside: its API, its sender, its fulfilment system and its ledger.

#![allow(clippy::unwrap_used, reason = "what a test cannot unwrap, it fails on")]

mod api;
mod daemon;
mod fulfillment;
mod ledger;
mod life;
mod run;
mod world;
