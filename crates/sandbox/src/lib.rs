//! The world around Ordem, simulated: a store with an API and a webhook sender, and a fulfilment system.
//!
//! It behaves as badly as real ones do, by a seed, and keeps the ledger that tells whether Ordem got everything right.
//! It knows Ordem from outside only: HTTP, the SQL views, the binaries.

pub mod cli;
pub mod clock;
pub mod demo;
pub mod dice;
pub mod fulfillment;
pub mod ledger;
pub mod sandbox;
pub mod sender;
pub mod stop;
pub mod store;
