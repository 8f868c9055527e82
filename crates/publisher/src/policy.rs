//! How one destination is treated: its own settings, else those of the publisher.

use std::time::Duration;

use domain::Retry;
use jiff::SignedDuration;
use service::settings::{AfterDead, DestinationSettings, PublisherSettings, Rate, Span};

/// Most of a lease that is kept free for writing the result down.
const LEASE_MARGIN_MAX: Duration = Duration::from_secs(5);

/// The treatment of one destination.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// Most calls in flight: of this publisher, or of all where `is_shared`.
    pub(crate) concurrency: usize,
    /// Calls that may begin, over all publishers.
    pub(crate) rate: Option<Rate>,
    /// Whether publishers share the limits: those of the destination's own settings.
    pub(crate) is_shared: bool,
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
    /// Whether a dead effect keeps the later ones of its resource waiting for an operator.
    pub(crate) holds_after_dead: bool,
}

impl Policy {
    pub(crate) fn of(destination: &DestinationSettings, shared: &PublisherSettings) -> Self {
        let own = &destination.care;
        let usual = destination.reach.concurrency_max().unwrap_or(usize::MAX).min(shared.concurrency);
        Self {
            concurrency: own.concurrency.unwrap_or(usual),
            rate: own.rate,
            is_shared: own.rate.is_some() || own.concurrency.is_some(),
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
            holds_after_dead: own.after_dead == AfterDead::Hold,
        }
    }

    /// How much of a lease must be left to begin a call: time to renew it, or to write a result down.
    pub(crate) fn lease_margin(&self) -> Duration {
        (self.lease / 10).min(LEASE_MARGIN_MAX)
    }

    /// Whether an effect of this age is not sent any more.
    pub(crate) fn is_too_old(&self, age: SignedDuration) -> bool {
        self.age_max.is_some_and(|limit| Duration::try_from(age).is_ok_and(|age| age > limit))
    }
}
