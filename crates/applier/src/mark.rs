//! From where in the queue to claim: a low-water mark that spares dead rows, and a sweep that is the truth.

use std::time::Duration;

use db::ids::first_id;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use uuid::Uuid;

/// Ids are made before they are committed, and by several processes: what is younger than this may still appear
/// below an id that was already claimed.
const TRAIL: SignedDuration = SignedDuration::from_millis(1000);
/// A sweep may take this share of the time at most.
const SWEEP_SHARE: u32 = 10;

/// Where the next claim starts.
#[derive(Debug)]
pub(crate) struct Mark {
    highest: Uuid,
    sweep_every: Duration,
    next_sweep: Instant,
}

impl Mark {
    pub(crate) fn new(sweep_every: Duration) -> Self {
        Self { highest: Uuid::nil(), sweep_every, next_sweep: Instant::now() }
    }

    /// The id above which to claim, and whether this is a sweep.
    pub(crate) fn start(&self, now: Timestamp) -> (Uuid, bool) {
        if Instant::now() >= self.next_sweep {
            return (Uuid::nil(), true);
        }
        let trailing = now.checked_sub(TRAIL).map_or(Uuid::nil(), first_id);
        (self.highest.min(trailing), false)
    }

    /// Notes what a claim found and how long it took. A sweep that came back full goes on as a sweep.
    pub(crate) fn claimed(&mut self, last: Option<Uuid>, was_sweep: bool, was_full: bool, took: Duration) {
        if let Some(last) = last {
            self.highest = if was_sweep { last } else { self.highest.max(last) };
        }
        if was_sweep && !was_full {
            self.next_sweep = Instant::now() + self.sweep_every.max(took * SWEEP_SHARE);
        }
    }

    /// Forgets everything: the next claim is a sweep.
    pub(crate) fn reset(&mut self) {
        self.next_sweep = Instant::now();
    }
}
