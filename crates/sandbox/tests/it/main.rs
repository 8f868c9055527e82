//! The sandbox from outside: its API, its sender, its fulfilment system and its ledger.

mod api;
mod fulfillment;
mod ledger;
mod life;
mod run;
mod world;
