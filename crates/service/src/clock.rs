//! The machine's clock: the one place that asks for the time.

use domain::Clock;
use jiff::Timestamp;

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is where now comes from")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
