//! The outbox: effects on their way to a destination.

mod backlog;
mod call;
mod cancel_pairs;
mod claim;
mod finish;
mod give_back;
mod message;
mod renew;
mod write;

pub use backlog::{Backlog, backlog};
pub use call::{FunctionName, FunctionState, HandOver, call_with_each, function_state, hand_over};
pub use cancel_pairs::{PAIR_REASONS, cancel_pairs};
pub use claim::{Claim, ClaimRequest, ClaimedEffect, claim};
pub use finish::{Attempt, End, Finished, Written, finish, wake_next};
pub use give_back::give_back;
pub use message::Message;
pub use renew::renew;
pub use write::{EffectToWrite, WrittenEffects, write};
