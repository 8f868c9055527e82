//! Look-ups: what a provider is asked because an event alone does not tell enough.
//!
//! The applier asks ([`ask`]), a reconciler claims under a lease, reads outside of any transaction, and then answers
//! or lets it be asked again. A look-up ends only by its answer.

mod answer;
mod ask;
mod ask_again;
mod backlog;
mod claim;

pub use answer::{Answered, answer, forget_answers};
pub use ask::{Ask, ask};
pub use ask_again::ask_again;
pub use backlog::{LookupBacklog, backlog};
pub use claim::{ClaimedLookup, claim};
