//! Reading instants: RFC 3339, local times with a configured zone, epoch numbers. Never the machine's clock or zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde::Deserialize;

use crate::leaf::{Leaf, integer};

/// What the provider's clock resolves; finer digits are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Precision {
    Seconds,
    Milliseconds,
    #[default]
    Microseconds,
}

impl Precision {
    /// Cuts what is finer (downwards, so that the order is kept).
    pub(crate) fn cut(self, instant: Timestamp) -> Timestamp {
        let unit: i64 = match self {
            Self::Seconds => 1_000_000,
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1,
        };
        let micros = instant.as_nanosecond().div_euclid(1_000);
        let cut = i64::try_from(micros).map(|micros| micros.div_euclid(unit) * unit);
        // A value cut to a coarser unit stays in range but for the very first instants there are.
        cut.ok().and_then(|micros| Timestamp::from_microsecond(micros).ok()).unwrap_or(instant)
    }
}

/// The unit of an instant given as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Epoch {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl Epoch {
    /// How many digits any instant between 2001 and 2286 has in this unit.
    fn digits(self) -> usize {
        match self {
            Self::Seconds => 10,
            Self::Milliseconds => 13,
            Self::Microseconds => 16,
            Self::Nanoseconds => 19,
        }
    }

    /// The unit that a number's length tells; only the two that are in common use.
    fn by_magnitude(digits: usize) -> Option<Self> {
        [Self::Seconds, Self::Milliseconds].into_iter().find(|unit| unit.digits() == digits)
    }

    fn timestamp(self, value: i64) -> Option<Timestamp> {
        match self {
            Self::Seconds => Timestamp::from_second(value).ok(),
            Self::Milliseconds => Timestamp::from_millisecond(value).ok(),
            Self::Microseconds => Timestamp::from_microsecond(value).ok(),
            Self::Nanoseconds => Timestamp::from_nanosecond(i128::from(value)).ok(),
        }
    }
}

/// How the instants of one place are spelt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spelling {
    /// The zone of times without an offset.
    pub(crate) zone: Option<TimeZone>,
    /// The unit of numbers; told from their length when not set.
    pub(crate) epoch: Option<Epoch>,
}

impl Spelling {
    /// Reads an instant.
    ///
    /// # Errors
    /// Why it is none, with the value as it came.
    pub(crate) fn read(&self, leaf: &Leaf<'_>) -> Result<Timestamp, String> {
        match leaf {
            Leaf::Text(text) => self.text(text).map_err(|reason| format!("{:?} {reason}", clipped(text))),
            Leaf::Number(digits) => {
                self.number(digits).map_err(|reason| format!("{} {reason}", clipped(digits)))
            }
            other => Err(format!("is {}, not an instant", other.describe())),
        }
    }

    fn number(&self, digits: &str) -> Result<Timestamp, &'static str> {
        let value = integer(digits).filter(|value| *value >= 0).ok_or("is not an epoch number")?;
        let length = value.to_string().len();
        let unit = match self.epoch {
            Some(unit) if unit.digits() != length => return Err("has the wrong magnitude for its unit"),
            Some(unit) => unit,
            None => {
                Epoch::by_magnitude(length).ok_or("is neither seconds (10 digits) nor milliseconds (13)")?
            }
        };
        unit.timestamp(value).ok_or("is out of range")
    }

    fn text(&self, text: &str) -> Result<Timestamp, &'static str> {
        if self.epoch.is_some() && text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.number(text);
        }
        if text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            let zoned = jiff::fmt::rfc2822::parse(text).map_err(|_| "is not a date and time")?;
            let instant = zoned.timestamp();
            return if instant < Timestamp::UNIX_EPOCH { Err("lies before 1970") } else { Ok(instant) };
        }
        let (civil, rest) = civil(text).ok_or("is not a date and time")?;
        let instant = match (offset(rest).ok_or("has an offset that cannot be read")?, &self.zone) {
            (Some(offset), _) => offset.to_timestamp(civil).map_err(|_| "is out of range")?,
            (None, None) => return Err("has no offset, and the profile names no zone"),
            (None, Some(zone)) => zone
                .to_ambiguous_zoned(civil)
                .unambiguous()
                .map_err(|_| "happens twice or never in the profile's zone, where the clocks change")?
                .timestamp(),
        };
        if instant < Timestamp::UNIX_EPOCH { Err("lies before 1970") } else { Ok(instant) }
    }
}

/// The start of a value, for a message.
fn clipped(text: &str) -> &str {
    let end = text.char_indices().nth(40).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Reads `YYYY-MM-DDTHH:MM:SS[.fraction]` (or a blank for the T); gives what follows.
fn civil(text: &str) -> Option<(DateTime, &str)> {
    // Some leave the seconds out.
    let whole_minute = text.as_bytes().get(16) != Some(&b':');
    let padded;
    let (date_time, rest) = if whole_minute {
        let (minute, rest) = text.split_at_checked(16)?;
        padded = format!("{minute}:00");
        (padded.as_str(), rest)
    } else {
        text.split_at_checked(19)?
    };
    let bytes = date_time.as_bytes();
    let separators = [(4, b"-" as &[u8]), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")];
    if !separators.iter().all(|(at, allowed)| allowed.contains(&bytes[*at])) {
        return None;
    }
    let (nanosecond, rest) = if whole_minute { (0, rest) } else { fraction(rest)? };
    let two = |at: usize| digits(&bytes[at..at + 2]).and_then(|value| i8::try_from(value).ok());
    let year = i16::try_from(digits(&bytes[..4])?).ok()?;
    // A date that does not exist, hour 24 and second 60 all fail here.
    let civil = DateTime::new(year, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, nanosecond).ok()?;
    Some((civil, rest))
}

/// Reads `.digits` to nanoseconds, cutting what is finer; nothing is zero.
fn fraction(text: &str) -> Option<(i32, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let end = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (written, rest) = rest.split_at(end);
    if written.is_empty() {
        return None;
    }
    let nine = written.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanosecond = nine.fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'));
    Some((nanosecond, rest))
}

/// Reads `Z`, `±HH:MM`, `±HHMM`, or nothing (a local time); anything else is no offset.
fn offset(text: &str) -> Option<Option<Offset>> {
    let bytes = text.as_bytes();
    let (sign, hours, minutes) = match bytes {
        [] => return Some(None),
        [b'Z' | b'z'] => return Some(Some(Offset::UTC)),
        [sign, hours @ .., b':', m1, m2] if hours.len() == 2 => (sign, hours, [*m1, *m2]),
        [sign, h1, h2, m1, m2] if *h2 != b':' => (sign, &[*h1, *h2][..], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (digits(hours)?, digits(&minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60;
    match sign {
        b'+' => Offset::from_seconds(seconds).ok().map(Some),
        b'-' => Offset::from_seconds(-seconds).ok().map(Some),
        _ => None,
    }
}

/// The number that digits, and nothing but digits, spell.
fn digits(bytes: &[u8]) -> Option<i32> {
    bytes.iter().try_fold(0_i32, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i32::from(byte - b'0')))
}

#[cfg(test)]
mod tests;
