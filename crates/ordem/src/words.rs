//! Instants, ages and counts as people read them.

use std::fmt::Write as _;

use domain::Version;
use jiff::Timestamp;

/// What `domain` adds to the instant of a fact that lacks the provider's number.
const NUMBERLESS: i64 = -(1 << 61);
const BELOW_NUMBERS: i64 = -(1 << 60);
/// Microseconds from 1973 on: shown as an instant besides.
const INSTANTS: i64 = 100_000_000_000_000;

/// `2026-01-02 03:04:05.678Z`
pub(crate) fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S%.3fZ").to_string()
}

/// [`instant`], or `-`.
pub(crate) fn instant_or_dash(at: Option<Timestamp>) -> String {
    at.map_or_else(dash, instant)
}

/// What stands for nothing in a table.
pub(crate) fn dash() -> String {
    "-".to_owned()
}

/// Text, or `-`.
pub(crate) fn or_dash(text: Option<&str>) -> String {
    text.map_or_else(dash, ToOwned::to_owned)
}

/// Seconds from `then` to `now`, never negative.
pub(crate) fn seconds_between(then: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(then).as_secs()).unwrap_or(0)
}

/// `12s`, `3m 20s`, `5h 7m`, `4d 2h`.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// [`age`] of an optional number of seconds, or `-`.
pub(crate) fn age_or_dash(seconds: Option<u64>) -> String {
    seconds.map_or_else(dash, age)
}

/// A version: the provider's number, or an instant for those that are ordered by one.
pub(crate) fn version(version: Version) -> String {
    // Far below zero: no number where the source has numbers, ordered by instant below all that have one.
    let major = match version.major {
        ..BELOW_NUMBERS => {
            let told = Timestamp::from_microsecond(version.major.wrapping_sub(NUMBERLESS));
            format!("none ({})", told.map_or_else(|_| version.major.to_string(), instant))
        }
        INSTANTS.. => {
            let told = Timestamp::from_microsecond(version.major).map(|at| format!(" ({})", instant(at)));
            format!("{}{}", version.major, told.unwrap_or_default())
        }
        number => number.to_string(),
    };
    if version.rank == 0 { major } else { format!("{major} rank {}", version.rank) }
}

/// The text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

/// `1 event`, `2 events`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The text without anything that could steer a terminal: much of what is shown was written by others.
pub(crate) fn harmless(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        let steers = letter.is_control() && letter != '\n';
        let turns =
            matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if steers || turns {
            // Writing to a String cannot fail.
            let _ = write!(clean, "{}", letter.escape_unicode());
        } else {
            clean.push(letter);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_two_units_at_most() {
        let ages = [0, 59, 61, 3599, 3600, 86_399, 90_000].map(age);
        assert_eq!(ages, ["0s", "59s", "1m 1s", "59m 59s", "1h 0m", "23h 59m", "1d 1h"]);
    }

    #[test]
    fn instants_are_utc_and_say_so() {
        let at: Timestamp = "2026-01-02T00:04:05.678912-03:00".parse().unwrap();
        assert_eq!(instant(at), "2026-01-02 03:04:05.678Z");
    }

    #[test]
    fn versions_are_told_as_what_they_are() {
        let at: Timestamp = "2026-01-02T03:04:05.678Z".parse().unwrap();
        assert_eq!(version(Version::new(7, 0)), "7");
        assert_eq!(version(Version::new(0, 3)), "0 rank 3");
        assert_eq!(
            version(Version::from_instant(at, 2)),
            "1767323045678000 (2026-01-02 03:04:05.678Z) rank 2"
        );
        assert_eq!(
            version(Version::from_instant_below_sequences(at, 2)),
            "none (2026-01-02 03:04:05.678Z) rank 2"
        );
    }

    #[test]
    fn nothing_that_was_sent_to_us_steers_the_terminal() {
        assert_eq!(harmless("a\u{1b}[31m\u{202e}b\nc"), "a\\u{1b}[31m\\u{202e}b\nc");
    }
}
