//! Durations as people write them: "20ms", "30s", "5m", "24h", "90d".

use std::{fmt, time::Duration};

use jiff::{SignedDuration, Span as Calendar, SpanRelativeTo};
use serde::{Deserialize, Deserializer, de::Error};

/// A length of time in the configuration, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(Duration);

impl Span {
    /// The length.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// From a length.
    pub const fn of(duration: Duration) -> Self {
        Self(duration)
    }

    fn parse(text: &str) -> Option<Self> {
        let calendar: Calendar = text.parse().ok()?;
        // A day is 24 hours here: lengths of waiting have no time zone.
        let length: SignedDuration = calendar.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        Duration::try_from(length).ok().map(Self)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "\"{text}\" is no duration: write it like \"20ms\", \"30s\", \"5m\", \"24h\""
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_understood() {
        let seconds = |text: &str| Span::parse(text).map(|span| span.get().as_secs_f64());
        assert_eq!(seconds("20ms"), Some(0.02));
        assert_eq!(seconds("30s"), Some(30.0));
        assert_eq!(seconds("5m"), Some(300.0));
        assert_eq!(seconds("1h"), Some(3600.0));
        assert_eq!(seconds("90d"), Some(90.0 * 86_400.0));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("-5s"), None);
        assert_eq!(seconds("5"), None);
    }
}
