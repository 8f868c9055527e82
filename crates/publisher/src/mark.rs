//! From which due time to claim: a mark that spares the rows that are gone, and a sweep that is the truth.

use std::time::Duration;

use db::outbox::Claim;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Effects appear with a due time that is a little past: of the transaction that wrote them, by another clock.
const TRAIL: SignedDuration = SignedDuration::from_secs(10);
/// How often everything is looked at, at least.
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// A sweep may take this share of the time at most.
const SWEEP_SHARE: u32 = 10;

/// Where the next claim starts.
#[derive(Debug)]
pub(crate) struct Mark {
    from: Timestamp,
    next_sweep: Instant,
}

impl Mark {
    /// The first claim is a sweep.
    pub(crate) fn new() -> Self {
        Self { from: Timestamp::UNIX_EPOCH, next_sweep: Instant::now() }
    }

    /// The due time from which to claim.
    pub(crate) fn start(&self) -> Timestamp {
        if Instant::now() >= self.next_sweep { Timestamp::UNIX_EPOCH } else { self.from }
    }

    /// Notes what a claim that started at `start` found at `now`, and how long it took.
    pub(crate) fn claimed(&mut self, start: Timestamp, claim: &Claim, now: Timestamp, took: Duration) {
        let oldest = claim.oldest_due.map_or(now, |oldest| oldest.min(now));
        self.from = oldest.checked_sub(TRAIL).unwrap_or(Timestamp::UNIX_EPOCH).max(Timestamp::UNIX_EPOCH);
        if start == Timestamp::UNIX_EPOCH {
            self.next_sweep = Instant::now() + SWEEP_EVERY.max(took * SWEEP_SHARE);
        }
    }
}
