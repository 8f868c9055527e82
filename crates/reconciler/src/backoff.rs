//! How long to wait before the same page is asked for again.

use std::time::Duration;

use domain::{Retry, Verdict};
use service::settings::ReconcilerSettings;

const BASE: Duration = Duration::from_millis(500);
const CAP: Duration = Duration::from_secs(30);
/// A provider that asks for no wait at all gets this much.
const THROTTLED_MIN: Duration = Duration::from_secs(1);
/// All waits that a provider may ask for before one page, as a multiple of the longest single one. It counts time and
/// not answers, so a provider that asks for many short waits is as welcome as one that asks for few long ones; it
/// counts for each page anew, so a slow provider still gets every page read. Without it a provider that answers 429
/// for ever would hold a round for ever, and nobody would be told.
const THROTTLED_IN_ALL: u32 = 3;

/// The waits of one page.
#[derive(Debug)]
pub(crate) struct Backoff {
    retry: Retry,
    retry_after_max: Duration,
    failures: u32,
    throttled: Duration,
}

impl Backoff {
    pub(crate) fn new(settings: &ReconcilerSettings) -> Self {
        let retry = Retry { base: BASE, cap: CAP, attempts_max: settings.attempts_max };
        let retry_after_max = settings.retry_after_max.get().max(THROTTLED_MIN);
        Self { retry, retry_after_max, failures: 0, throttled: Duration::ZERO }
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
    pub(crate) fn throttled(&mut self, asked: Duration) -> Duration {
        let wait = asked.clamp(THROTTLED_MIN, self.retry_after_max);
        self.throttled += wait;
        wait
    }

    /// How long the provider made us wait, once that was all it gets.
    pub(crate) fn throttled_for_good(&self) -> Option<Duration> {
        (self.throttled >= self.retry_after_max * THROTTLED_IN_ALL).then_some(self.throttled)
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
        let retry_after_max = Span::of(Duration::from_secs(300)).get();
        Backoff { retry, retry_after_max, failures: 0, throttled: Duration::ZERO }
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
        let mut backoff = backoff(1);
        let mut seconds = |asked| backoff.throttled(Duration::from_secs(asked)).as_secs();
        assert_eq!([seconds(0), seconds(30), seconds(86_400)], [1, 30, 300]);
    }

    #[test]
    fn waits_add_up_to_three_times_the_longest_however_many_they_are() {
        for (asked, waits) in [(86_400, 3), (300, 3), (100, 9)] {
            let mut backoff = backoff(1);
            for _ in 1..waits {
                backoff.throttled(Duration::from_secs(asked));
                assert_eq!(backoff.throttled_for_good(), None);
            }
            backoff.throttled(Duration::from_secs(asked));
            assert_eq!(backoff.throttled_for_good(), Some(Duration::from_secs(900)));
        }
    }
}
