//! How one destination is treated: its own settings, else those of the publisher.

use std::time::Duration;

use domain::Retry;
use service::settings::{Care, PublisherSettings, Span};

/// Most of a lease that is kept free for writing the result down.
const LEASE_MARGIN_MAX: Duration = Duration::from_secs(5);

/// The treatment of one destination.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// Most calls in flight.
    pub(crate) concurrency: usize,
    /// Most effects of one claim.
    pub(crate) batch_max: usize,
    /// How long a claim holds.
    pub(crate) lease: Duration,
    /// Longest call.
    pub(crate) request_timeout: Duration,
    /// When to try again.
    pub(crate) retry: Retry,
    /// Effects in a row that fail before the breaker opens; 0: never.
    pub(crate) breaker_failures: usize,
    /// Longest pause between two probes.
    pub(crate) breaker_pause_max: Duration,
    /// An effect older than this is not sent any more.
    pub(crate) age_max: Option<Duration>,
}

impl Policy {
    pub(crate) fn of(own: &Care, shared: &PublisherSettings) -> Self {
        Self {
            concurrency: own.concurrency.unwrap_or(shared.concurrency),
            batch_max: shared.batch_max,
            lease: shared.lease.get(),
            request_timeout: own.request_timeout.unwrap_or(shared.request_timeout).get(),
            retry: Retry {
                base: own.backoff_base.unwrap_or(shared.backoff_base).get(),
                cap: own.backoff_cap.unwrap_or(shared.backoff_cap).get(),
                attempts_max: own.attempts_max.unwrap_or(shared.attempts_max),
            },
            breaker_failures: shared.breaker_failures,
            breaker_pause_max: shared.breaker_pause_max.get(),
            age_max: own.age_max.map(Span::get),
        }
    }

    /// How long a call may take when this much of the lease is left; `None` when there is no time to begin one.
    pub(crate) fn time_for_a_call(&self, lease_left: Duration) -> Option<Duration> {
        let margin = (self.lease / 10).min(LEASE_MARGIN_MAX);
        let time = self.request_timeout.min(lease_left.saturating_sub(margin));
        (!time.is_zero()).then_some(time)
    }
}
