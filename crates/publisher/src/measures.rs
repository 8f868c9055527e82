//! The numbers of one destination, and the log lines of its failures.

use db::outbox::End;
use jiff::Timestamp;
use metrics::{Counter, Histogram, counter, histogram};
use service::metrics::{DELIVERIES, DELIVERY_LAG_SECONDS, DELIVERY_SECONDS, EFFECTS_DEAD};

use crate::{Report, verdict::Meaning};

/// Handles, looked up once.
pub(crate) struct Measures {
    delivered: Counter,
    transient: Counter,
    permanent: Counter,
    dead: Counter,
    call_seconds: Histogram,
    lag_seconds: Histogram,
}

impl Measures {
    pub(crate) fn of(destination: &str) -> Self {
        let name = destination.to_owned();
        let calls = |meaning: Meaning| counter!(DELIVERIES, "destination" => name.clone(), "result" => meaning.as_str());
        Self {
            delivered: calls(Meaning::Delivered),
            transient: calls(Meaning::Transient),
            permanent: calls(Meaning::Permanent),
            dead: counter!(EFFECTS_DEAD, "destination" => name.clone()),
            call_seconds: histogram!(DELIVERY_SECONDS, "destination" => name.clone()),
            lag_seconds: histogram!(DELIVERY_LAG_SECONDS, "destination" => name.clone()),
        }
    }

    /// Counts a call that was made.
    pub(crate) fn called(&self, meaning: Meaning, took_s: f64) {
        self.call_seconds.record(took_s);
        match meaning {
            Meaning::Delivered => self.delivered.increment(1),
            Meaning::Transient => self.transient.increment(1),
            Meaning::Permanent => self.permanent.increment(1),
        }
    }

    /// Counts and tells a result that was written down.
    pub(crate) fn recorded(&self, destination: &str, report: &Report, now: Timestamp) {
        let result = &report.result;
        let (id, status) = (result.effect_id, result.attempt.http_status);
        match &result.end {
            End::Delivered => self.lag_seconds.record(now.duration_since(report.born).as_secs_f64().max(0.0)),
            End::Postponed { due_at, error, .. } => tracing::warn!(
                effect.id = %id, destination, attempt = report.attempt, status, error, next_attempt_at = %due_at,
                "delivery failed, it is tried again"
            ),
            End::Dead { error, holds_lane } => {
                self.dead.increment(1);
                tracing::error!(
                    effect.id = %id, destination, attempt = report.attempt, status, error, holds_lane,
                    "effect given up: put it back with `ordem effects retry` when the cause is mended"
                );
            }
        }
    }
}
