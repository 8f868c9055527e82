//! The outbox: effects on their way to a destination.

mod write;

pub use write::{EffectToWrite, write};
