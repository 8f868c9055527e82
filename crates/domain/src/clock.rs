//! The shape of a clock: "now" is always handed in, never asked for.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Where a daemon takes "now" from; the real one lives in the `service` crate.
pub trait Clock: Send + Sync {
    /// The instant that counts as now.
    fn now(&self) -> Timestamp;
}

/// A clock for tests: stands still until it is moved.
#[derive(Debug)]
pub struct SettableClock {
    microseconds: AtomicI64,
}

impl SettableClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self { microseconds: AtomicI64::new(now.as_microsecond()) }
    }

    /// Moves the clock forward (or, with a negative value, back) by whole seconds.
    pub fn advance_seconds(&self, seconds: i64) {
        self.advance_milliseconds(seconds.saturating_mul(1000));
    }

    /// Moves the clock forward (or, with a negative value, back) by milliseconds.
    pub fn advance_milliseconds(&self, milliseconds: i64) {
        self.microseconds.fetch_add(milliseconds.saturating_mul(1000), Ordering::SeqCst);
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.microseconds.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }
}
