//! The outbox: effects on their way to a destination.

mod backlog;
mod claim;
mod finish;
mod give_back;
mod renew;
mod write;

pub use backlog::{Backlog, backlog};
pub use claim::{Claim, ClaimRequest, ClaimedEffect, claim};
pub use finish::{Attempt, End, Finished, Written, finish, wake_next};
pub use give_back::give_back;
pub use renew::renew;
pub use write::{EffectToWrite, write};
