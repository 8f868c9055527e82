//! Rates as people write them: "100/s", "30/m", "1000/h".

use std::{fmt, num::NonZeroU32, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

/// So many in a length of time; never none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub count: NonZeroU32,
    /// In how long.
    pub per: Duration,
}

impl Rate {
    /// The time between two of them.
    pub fn interval(self) -> Duration {
        self.per / self.count.get()
    }

    fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let per = match unit.trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        // Above a million in a second the interval would be no whole number of anything a timer knows.
        let count = count.trim().parse::<NonZeroU32>().ok().filter(|count| count.get() <= 1_000_000)?;
        Some(Self { count, per: Duration::from_secs(per) })
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {:?}", self.count, self.per)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!("\"{text}\" is no rate: write it like \"100/s\", \"30/m\", \"1000/h\""))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_understood_and_none_is_no_rate() {
        let interval = |text: &str| Rate::parse(text).map(|rate| rate.interval().as_micros());
        assert_eq!(interval("100/s"), Some(10_000));
        assert_eq!(interval("30 / m"), Some(2_000_000));
        assert_eq!(interval("1/h"), Some(3_600_000_000));
        for text in ["0/s", "-1/s", "100", "100/d", "/s", "1.5/s", "2000000/s", ""] {
            assert_eq!(interval(text), None, "{text}");
        }
    }
}
