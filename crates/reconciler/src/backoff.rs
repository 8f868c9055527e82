//! How long to wait before the same page is asked for again.

use std::time::Duration;

use domain::{Retry, Verdict};
use service::settings::ReconcilerSettings;

const BASE: Duration = Duration::from_millis(500);
const CAP: Duration = Duration::from_secs(30);
/// A provider that asks for no wait at all gets this much.
const THROTTLED_MIN: Duration = Duration::from_secs(1);

/// The waits of one page.
#[derive(Debug)]
pub(crate) struct Backoff {
    retry: Retry,
    retry_after_max: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new(settings: &ReconcilerSettings) -> Self {
        let retry = Retry { base: BASE, cap: CAP, attempts_max: settings.attempts_max };
        Self { retry, retry_after_max: settings.retry_after_max.get(), failures: 0 }
    }

    /// The wait after a failure; `None` when every attempt is used.
    pub(crate) fn after_failure(&mut self) -> Option<Duration> {
        self.failures += 1;
        match self.retry.after(self.failures, rand::random(), None) {
            Verdict::Again(wait) => Some(wait),
            Verdict::Dead => None,
        }
    }

    /// The wait that the provider asked for. It is no failure: it uses no attempt.
    pub(crate) fn throttled(&self, asked: Duration) -> Duration {
        asked.max(THROTTLED_MIN).min(self.retry_after_max.max(THROTTLED_MIN))
    }
}

/// About this long: a tenth more or less, so that processes do not move in step.
pub(crate) fn about(length: Duration) -> Duration {
    length.mul_f64(0.9 + 0.2 * rand::random::<f64>())
}

#[cfg(test)]
mod tests {
    use service::settings::Span;

    use super::*;

    fn backoff(attempts_max: u32) -> Backoff {
        let retry = Retry { base: BASE, cap: CAP, attempts_max };
        Backoff { retry, retry_after_max: Span::of(Duration::from_secs(300)).get(), failures: 0 }
    }

    #[test]
    fn the_last_attempt_is_followed_by_none() {
        let mut backoff = backoff(3);
        assert!(backoff.after_failure().is_some_and(|wait| wait <= BASE));
        assert!(backoff.after_failure().is_some_and(|wait| wait <= 2 * BASE));
        assert_eq!(backoff.after_failure(), None);
    }

    #[test]
    fn what_the_provider_asks_for_is_kept_within_bounds() {
        let backoff = backoff(1);
        let seconds = |asked| backoff.throttled(Duration::from_secs(asked)).as_secs();
        assert_eq!([seconds(0), seconds(30), seconds(86_400)], [1, 30, 300]);
    }
}
