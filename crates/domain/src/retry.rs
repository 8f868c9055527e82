//! When to try again: exponential back-off with full jitter, bounded in delay and attempts.

use std::time::Duration;

/// The retry policy of an applier or a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Upper bound of the first delay.
    pub base: Duration,
    /// Upper bound of every delay.
    pub cap: Duration,
    /// How many attempts there are in all, at least 1.
    pub attempts_max: u32,
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Try again after this long.
    Again(Duration),
    /// Give up: every attempt is used.
    Dead,
}

impl Retry {
    /// What follows the failed attempt with this number (1 is the first).
    ///
    /// `jitter` in 0..1 is drawn by the caller. `asked` is what the other side asked for (`Retry-After`): the
    /// wait is never shorter than that, and never longer than the cap unless the jitter already is.
    pub fn after(&self, attempt: u32, jitter: f64, asked: Option<Duration>) -> Verdict {
        if attempt >= self.attempts_max {
            return Verdict::Dead;
        }
        let delay = self.ceiling(attempt).mul_f64(jitter.clamp(0.0, 1.0));
        Verdict::Again(asked.map_or(delay, |asked| delay.max(asked.min(self.cap))))
    }

    /// The longest delay after this attempt: `base * 2^(attempt - 1)`, at most the cap.
    fn ceiling(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.base.saturating_mul(1 << doublings).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry =
        Retry { base: Duration::from_secs(1), cap: Duration::from_secs(3600), attempts_max: 12 };

    fn longest(attempt: u32) -> Duration {
        match RETRY.after(attempt, 1.0, None) {
            Verdict::Again(delay) => delay,
            Verdict::Dead => Duration::MAX,
        }
    }

    #[test]
    fn delays_double_up_to_the_cap() {
        let seconds: Vec<_> = (1..12).map(|attempt| longest(attempt).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
        let patient = Retry { attempts_max: u32::MAX, ..RETRY };
        assert_eq!(patient.after(40, 1.0, None), Verdict::Again(RETRY.cap));
    }

    #[test]
    fn the_last_attempt_is_followed_by_none() {
        assert_eq!(RETRY.after(12, 0.5, None), Verdict::Dead);
        assert_eq!(RETRY.after(13, 0.5, Some(Duration::ZERO)), Verdict::Dead);
    }

    #[test]
    fn jitter_is_full_and_clamped() {
        assert_eq!(RETRY.after(5, 0.0, None), Verdict::Again(Duration::ZERO));
        assert_eq!(RETRY.after(5, 0.25, None), Verdict::Again(Duration::from_secs(4)));
        assert_eq!(RETRY.after(5, 7.0, None), Verdict::Again(Duration::from_secs(16)));
    }

    #[test]
    fn what_the_other_side_asks_for_is_kept_but_capped() {
        let asked = |seconds| RETRY.after(1, 0.0, Some(Duration::from_secs(seconds)));
        assert_eq!(asked(90), Verdict::Again(Duration::from_secs(90)));
        assert_eq!(asked(1_000_000), Verdict::Again(RETRY.cap));
    }
}
