//! What an order *is*: the rules that turn a set of facts into one row and its effects.
//!
//! Owns versions, facts, resources, flows, [`decide`], effects, the retry schedule and the clock's shape.
//! Knows nothing of tokio, SQL, HTTP or any provider, does no I/O and never asks for the time.

mod clock;
mod decide;
mod effect;
mod fact;
mod flow;
mod flow_spec;
mod history;
mod origin;
mod resource;
mod retry;
mod version;

pub use clock::{Clock, SettableClock};
pub use decide::{Decision, Outcome, Transition, decide};
pub use effect::{EffectKey, EffectRule, NewEffect, Trigger};
pub use fact::{Fact, ResourceId, Value};
pub use flow::Flow;
pub use flow_spec::{EffectSpec, FlowFault, FlowSpec};
pub use history::{Entry, History};
pub use origin::Origin;
pub use resource::{Field, Resource};
pub use retry::{Retry, Verdict};
pub use version::Version;

#[cfg(test)]
mod tests;
