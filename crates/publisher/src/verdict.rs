//! What an answer means: the one table of statuses, and what follows from it.
//!
//! | Answer | Meaning | Why |
//! |---|---|---|
//! | 2xx | delivered | transient where the destination's `success` asks for more than the status, and the body does not say it |
//! | 400, 422 | permanent | the destination has read this very message and will not have it; the bytes never change |
//! | 409 | transient | by the draft of the Idempotency-Key header: a request with this key is still in work; delivered where the destination's `conflict` says so and this was no first attempt |
//! | 410 | permanent | the address was given up on purpose |
//! | 429, 503 and others with `Retry-After` | transient | not before the instant it asks for, up to the cap |
//! | other 4xx (401, 403, 404, 405, 413, 415, …) | transient | mostly a broken deploy, a secret not yet changed, a proxy |
//! | 5xx, 408, 425 | transient | |
//! | 3xx, 1xx | transient | redirects are not followed; the address in the configuration wants to be corrected |
//! | no answer, refused address | transient | an operator may allow the address |
//!
//! A permanent failure is dead at once, a transient one after the last attempt. The dead can be put back.

use std::time::Duration;

use db::outbox::End;
use domain::{Retry, Verdict};
use jiff::{SignedDuration, Timestamp};

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// It arrived.
    Delivered,
    /// Trying again may help.
    Transient,
    /// Trying again brings the same.
    Permanent,
}

impl Meaning {
    /// The table above.
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Delivered,
            400 | 410 | 422 => Self::Permanent,
            _ => Self::Transient,
        }
    }

    /// The word in the table of attempts and in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Transient => "transient",
            Self::Permanent => "permanent",
        }
    }
}

/// A failed attempt, as far as it matters for what follows.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    /// Why it failed.
    pub error: &'a str,
    /// Number of the attempt, from 1.
    pub attempt: i32,
    /// Whether it was a probe of a destination that is down: then it does not count.
    pub probe: bool,
    /// What `Retry-After` asked for.
    pub asked: Option<Duration>,
    /// Whether a dead effect holds its lane.
    pub holds_lane: bool,
}

/// What follows a transient failure.
pub fn after_transient(failure: Failure<'_>, retry: &Retry, now: Timestamp, jitter: f64) -> End {
    let counted = if failure.probe { failure.attempt - 1 } else { failure.attempt };
    let attempt = u32::try_from(counted).unwrap_or(0);
    let error = failure.error.to_owned();
    match retry.after(attempt, jitter, failure.asked) {
        Verdict::Dead => End::Dead { error, holds_lane: failure.holds_lane },
        Verdict::Again(delay) => {
            let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX);
            let due_at = now.checked_add(delay).unwrap_or(Timestamp::MAX);
            End::Postponed { due_at, error, counted: !failure.probe }
        }
    }
}

/// The text of an answer that is no success.
pub fn text_of_status(status: u16) -> String {
    match status {
        300..=399 => format!("answer {status}: redirects are not followed, correct the destination's url"),
        401 | 403 => format!("answer {status}: check the destination's secret"),
        _ => format!("answer {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry =
        Retry { base: Duration::from_secs(1), cap: Duration::from_secs(3600), attempts_max: 3 };

    fn after(attempt: i32, probe: bool) -> End {
        let failure = Failure { error: "answer 500", attempt, probe, asked: None, holds_lane: true };
        after_transient(failure, &RETRY, Timestamp::UNIX_EPOCH, 1.0)
    }

    #[test]
    fn each_row_of_the_table_holds() {
        let with = |meaning| (100..600).filter(move |status| Meaning::of_status(*status) == meaning);
        assert!(with(Meaning::Delivered).eq(200..300));
        assert!(with(Meaning::Permanent).eq([400, 410, 422]));
    }

    #[test]
    fn the_last_attempt_is_followed_by_death() {
        let second = Timestamp::from_second(2).unwrap();
        let error = "answer 500".to_owned();
        assert_eq!(after(2, false), End::Postponed { due_at: second, error: error.clone(), counted: true });
        assert_eq!(after(3, false), End::Dead { error, holds_lane: true });
    }

    #[test]
    fn a_probe_does_not_count_as_an_attempt() {
        assert!(matches!(after(3, true), End::Postponed { counted: false, .. }));
        assert!(matches!(after(1, true), End::Postponed { counted: false, .. }));
    }
}
