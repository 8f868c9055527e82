//! The sandbox's one clock: it plays systems that have a clock of their own.

use jiff::Timestamp;

/// The present, with the precision that the store's API shows.
#[expect(clippy::disallowed_methods, reason = "the one place where the simulated world reads the time")]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}
