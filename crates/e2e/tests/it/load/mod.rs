//! A load with its own truth: a plan of lives, a driver, a store, a fulfilment system, and the check at the end.
//!
//! On purpose apart from the sandbox and its ledger, and from the engine's rules: what demands which row and which
//! effect is said here once more, in the plainest way.

pub(crate) mod check;
pub(crate) mod fulfillment;
mod http;
pub(crate) mod plan;
pub(crate) mod store;
pub(crate) mod system;
