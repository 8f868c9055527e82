//! How a provider tells how much may be asked of it, and how long it wants to be left alone.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

/// The headers that tell, and the wait where none does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Header with `used/size` of a bucket that leaks (Shopify).
    pub bucket: Option<String>,
    /// Header with how many calls are left.
    pub remaining: Option<String>,
    /// Header with when they are given back.
    pub reset: Option<String>,
    /// What that header counts.
    pub reset_unit: ResetUnit,
    /// How long to wait after a refusal that does not tell.
    pub pause: Option<Duration>,
}

/// What a reset header counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ResetUnit {
    /// Seconds from now.
    #[default]
    Seconds,
    /// Milliseconds from now (`BigCommerce`, Nuvemshop).
    Milliseconds,
    /// An instant, in seconds since 1970 (GitHub).
    EpochSeconds,
}

/// From this share of a full bucket on a call waits until some of it has leaked.
const BUCKET_FULL: f64 = 0.8;
/// What a bucket is given to leak.
const BUCKET_PAUSE: Duration = Duration::from_secs(1);

impl Rate {
    /// How long to wait before the next call, after one that was answered with these headers.
    pub fn pace(&self, header: &dyn Fn(&str) -> Option<String>, now: Timestamp) -> Duration {
        let get = |name: &Option<String>| name.as_deref().and_then(header);
        if get(&self.bucket).is_some_and(|text| is_nearly_full(&text)) {
            return BUCKET_PAUSE;
        }
        match self.is_used_up(header) {
            true => self.reset_in(header, now).or(self.pause).unwrap_or(BUCKET_PAUSE),
            false => Duration::ZERO,
        }
    }

    /// Whether the answer says that no call is left.
    pub fn is_used_up(&self, header: &dyn Fn(&str) -> Option<String>) -> bool {
        let remaining = self.remaining.as_deref().and_then(header);
        remaining.is_some_and(|text| text.trim().parse::<f64>().is_ok_and(|left| left < 1.0))
    }

    /// How long to wait after a refusal: until the reset, or the fixed pause.
    pub fn refused(&self, header: &dyn Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
        self.reset_in(header, now).or(self.pause)
    }

    fn reset_in(&self, header: &dyn Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
        let number: f64 = self.reset.as_deref().and_then(header)?.trim().parse().ok()?;
        let seconds = match self.reset_unit {
            ResetUnit::Seconds => number,
            ResetUnit::Milliseconds => number / 1_000.0,
            ResetUnit::EpochSeconds => number - now.as_nanosecond() as f64 / 1e9,
        };
        Duration::try_from_secs_f64(seconds.max(0.0)).ok()
    }
}

fn is_nearly_full(text: &str) -> bool {
    let Some((used, size)) = text.split_once('/') else { return false };
    match (used.trim().parse::<f64>(), size.trim().parse::<f64>()) {
        (Ok(used), Ok(size)) if size > 0.0 => used / size >= BUCKET_FULL,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn each_unit_of_a_reset_is_told_apart() {
        let wait = |unit, text: &str| {
            let rate = Rate { reset: Some("reset".into()), reset_unit: unit, ..Rate::default() };
            rate.refused(&|name| (name == "reset").then(|| text.to_owned()), at(1_000))
        };
        assert_eq!(wait(ResetUnit::Seconds, "2.5"), Some(Duration::from_millis(2_500)));
        assert_eq!(wait(ResetUnit::Milliseconds, "1500"), Some(Duration::from_millis(1_500)));
        assert_eq!(wait(ResetUnit::EpochSeconds, "1060"), Some(Duration::from_secs(60)));
        assert_eq!(wait(ResetUnit::EpochSeconds, "900"), Some(Duration::ZERO));
        for odd in ["soon", "NaN", "1e300", ""] {
            assert!(wait(ResetUnit::Seconds, odd).is_none_or(|wait| wait.is_zero()), "{odd}");
        }
    }

    #[test]
    fn a_bucket_that_is_nearly_full_and_a_counter_at_zero_pause() {
        let bucket = Rate { bucket: Some("b".into()), ..Rate::default() };
        let pace = |rate: &Rate, text: &str| rate.pace(&|_| Some(text.to_owned()), at(0));
        assert_eq!(pace(&bucket, "31/40"), Duration::ZERO);
        assert_eq!(pace(&bucket, "32/40"), BUCKET_PAUSE);
        assert_eq!(pace(&bucket, "x/0"), Duration::ZERO);
        let counter = Rate { remaining: Some("r".into()), ..Rate::default() };
        assert_eq!(pace(&counter, "1"), Duration::ZERO);
        assert_eq!(pace(&counter, "0"), BUCKET_PAUSE);
    }
}
