//! The breaker: what waits for a destination that is down must not use up its attempts.
//!
//! Closed: as many calls as configured. When so many *different* effects in a row have failed, it opens: one probe at a
//! time, with a growing pause between them, and a probe's failure is not counted as an attempt of its effect. One
//! success and it recovers: the calls allowed double with each further success, so a long queue does not fall upon a
//! destination that has just come back. A permanent answer is a sign of life and counts as success here.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use uuid::Uuid;

/// The breaker of one destination.
#[derive(Debug)]
pub struct Breaker {
    limits: Limits,
    state: Mutex<State>,
}

/// When a breaker opens and how it probes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Different effects in a row that fail before it opens; 0: never.
    pub failures: usize,
    /// Calls in flight while it is closed.
    pub concurrency: usize,
    /// First pause between probes.
    pub pause: Duration,
    /// Longest pause between probes.
    pub pause_max: Duration,
}

/// How many calls there may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// At most so many.
    pub calls: usize,
    /// None before this instant.
    pub not_before: Option<Instant>,
    /// Whether they are probes.
    pub probe: bool,
}

#[derive(Debug)]
enum State {
    Closed { failing: Vec<Uuid> },
    Open { pause: Duration, probe_at: Instant },
    Recovering { calls: usize },
}

const CLOSED: State = State::Closed { failing: Vec::new() };

impl Breaker {
    /// A closed breaker.
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: Mutex::new(CLOSED) }
    }

    /// How many calls there may be now.
    pub fn allowance(&self) -> Allowance {
        let all = Allowance { calls: self.limits.concurrency, not_before: None, probe: false };
        match &*self.state() {
            State::Closed { .. } => all,
            State::Open { probe_at, .. } => Allowance { calls: 1, not_before: Some(*probe_at), probe: true },
            State::Recovering { calls } => Allowance { calls: *calls, ..all },
        }
    }

    /// Notes that the destination answered. Returns whether that closed the breaker.
    pub fn succeeded(&self) -> bool {
        let mut state = self.state();
        let calls = match &mut *state {
            State::Closed { failing } => {
                failing.clear();
                return false;
            }
            State::Open { .. } => 2,
            State::Recovering { calls } => *calls * 2,
        };
        let closed = calls >= self.limits.concurrency;
        *state = if closed { CLOSED } else { State::Recovering { calls } };
        closed
    }

    /// Notes a transient failure. Returns whether that opened the breaker.
    pub fn failed(&self, effect_id: Uuid, probe: bool, now: Instant) -> bool {
        let first = self.limits.pause.min(self.limits.pause_max);
        let mut state = self.state();
        match &mut *state {
            State::Closed { failing } => {
                if !failing.contains(&effect_id) {
                    failing.push(effect_id);
                }
                if self.limits.failures == 0 || failing.len() < self.limits.failures {
                    // Without a limit nothing is remembered.
                    failing.truncate(self.limits.failures);
                    return false;
                }
            }
            State::Recovering { .. } => {}
            // Calls that were in flight when it opened say nothing new.
            State::Open { .. } if !probe => return false,
            State::Open { pause, .. } => {
                let pause = (*pause * 2).clamp(first, self.limits.pause_max.max(first));
                *state = State::Open { pause, probe_at: now + pause };
                return false;
            }
        }
        *state = State::Open { pause: first, probe_at: now + first };
        true
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
