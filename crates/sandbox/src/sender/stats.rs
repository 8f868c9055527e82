//! What came of the webhooks: answers, latencies, rate.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Latencies up to this are told apart; longer ones count as this.
const LATENCY_US_MAX: u64 = 120_000_000;

/// Counts of one sender.
#[derive(Debug)]
pub struct Stats {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    answers: BTreeMap<String, u64>,
    duplicates: u64,
    gave_up: u64,
    latency_us: Histogram<u64>,
    first: Option<Instant>,
    last: Option<Instant>,
}

/// The counts at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Requests by answer: a status, or how the connection failed.
    pub answers: BTreeMap<String, u64>,
    /// Requests answered with 2xx.
    pub accepted: u64,
    /// Events sent twice on purpose.
    pub duplicates: u64,
    /// Webhooks given up after too many tries.
    pub gave_up: u64,
    /// Median time to a 2xx answer.
    pub p50_ms: f64,
    /// 99th percentile of it.
    pub p99_ms: f64,
    /// 2xx answers a second, from the first to the last.
    pub accepted_per_s: f64,
}

impl Default for Stats {
    fn default() -> Self {
        let latency_us = Histogram::new_with_bounds(1, LATENCY_US_MAX, 3)
            .expect("the bounds are in order and the precision is below six digits");
        Self {
            state: Mutex::new(State {
                answers: BTreeMap::new(),
                duplicates: 0,
                gave_up: 0,
                latency_us,
                first: None,
                last: None,
            }),
        }
    }
}

impl Stats {
    /// A 2xx came after `latency`.
    pub fn accepted(&self, status: u16, latency: Duration) {
        let now = Instant::now();
        let mut state = self.lock();
        *state.answers.entry(status.to_string()).or_default() += 1;
        let latency_us = u64::try_from(latency.as_micros()).unwrap_or(LATENCY_US_MAX);
        state.latency_us.saturating_record(latency_us.max(1));
        state.first.get_or_insert(now);
        state.last = Some(now);
    }

    /// Another answer or none came.
    pub fn refused(&self, kind: String) {
        *self.lock().answers.entry(kind).or_default() += 1;
    }

    /// An event is sent twice.
    pub fn duplicate(&self) {
        self.lock().duplicates += 1;
    }

    /// A webhook was given up.
    pub fn gave_up(&self) {
        self.lock().gave_up += 1;
    }

    /// The counts so far.
    pub fn summary(&self) -> Summary {
        let state = self.lock();
        let accepted = state.latency_us.len();
        let span = match (state.first, state.last) {
            (Some(first), Some(last)) => (last - first).as_secs_f64(),
            _ => 0.0,
        };
        let quantile_ms = |q| state.latency_us.value_at_quantile(q) as f64 / 1_000.0;
        Summary {
            answers: state.answers.clone(),
            accepted,
            duplicates: state.duplicates,
            gave_up: state.gave_up,
            p50_ms: quantile_ms(0.50),
            p99_ms: quantile_ms(0.99),
            accepted_per_s: if span > 0.0 { accepted as f64 / span } else { 0.0 },
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
