//! The inbox: every accepted event, the dedup ledger, the queue of events to apply, and what became of each.

mod backlog;
mod claim;
mod outcome;
mod refused;
mod retry;
mod store;

pub use backlog::{Backlog, backlog};
pub use claim::{Answer, ClaimLimit, Claimed, claim, claim_due_retries, claim_these};
pub use domain::Origin;
pub use outcome::{EventOutcome, EventVerdict, record_outcomes};
pub use refused::{RefusedRequest, record_refused};
pub use retry::{Failed, postpone};
pub use store::{Duplicate, NOT_COMPARABLE, NewEvent, STORE, body_hash, store, store_with};
