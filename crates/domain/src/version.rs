//! The key that orders the facts of one resource.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Orders the facts of one resource: first by `major`, then by `rank`.
///
/// `major` is the provider's sequence where there is one, else the instant of the fact in microseconds, else 0.
/// One source and kind uses one criterion, so that a sequence is never compared with an instant as a number;
/// a fact that lacks the sequence is placed below every fact that has it
/// ([`Version::from_instant_below_sequences`]).
///
/// Serialised as `[major, rank]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(i64, u8)", into = "(i64, u8)")]
pub struct Version {
    /// Sequence, or microseconds since the epoch, or 0.
    pub major: i64,
    /// Rank of the fact's status where the major alone is too weak; 0 with a sequence.
    pub rank: u8,
}

/// Added to instants of facts without a sequence: far below 0, where no sequence can be, yet leaves room for
/// every instant jiff can hold (years -9999 to 9999 are about ±3.8e17 µs).
const BELOW_SEQUENCES: i64 = -(1 << 61);

impl Version {
    /// The version with these two parts.
    pub const fn new(major: i64, rank: u8) -> Self {
        Self { major, rank }
    }

    /// The version of a fact with the provider's own sequence; `None` when it is negative.
    pub const fn from_sequence(sequence: i64) -> Option<Self> {
        if sequence < 0 { None } else { Some(Self { major: sequence, rank: 0 }) }
    }

    /// The version of a fact that happened at `instant` and led to the status with this `rank`.
    pub fn from_instant(instant: Timestamp, rank: u8) -> Self {
        Self { major: instant.as_microsecond(), rank }
    }

    /// The version of a fact without sequence where the source's criterion is the sequence: below all that
    /// have one, and among themselves by instant.
    pub fn from_instant_below_sequences(instant: Timestamp, rank: u8) -> Self {
        Self { major: BELOW_SEQUENCES + instant.as_microsecond(), rank }
    }
}

/// Set in the rank of what the provider said when it was asked about one moment.
const ASKED: u8 = 1 << 7;

impl Version {
    /// The version of the provider's own word about this moment: above all that events told of it.
    #[must_use]
    pub const fn asked(self) -> Self {
        Self { major: self.major, rank: self.rank | ASKED }
    }

    /// Whether it is the provider's own word.
    pub const fn is_asked(self) -> bool {
        self.rank & ASKED != 0
    }
}

impl From<(i64, u8)> for Version {
    fn from((major, rank): (i64, u8)) -> Self {
        Self { major, rank }
    }
}

impl From<Version> for (i64, u8) {
    fn from(version: Version) -> Self {
        (version.major, version.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_without_sequence_is_older_than_every_fact_with_one() {
        for instant in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
            let polled = Version::from_instant_below_sequences(instant, u8::MAX);
            assert!(polled < Version::from_sequence(0).unwrap());
        }
    }

    #[test]
    fn the_providers_own_word_is_above_every_event_of_its_moment_and_below_the_next_moment() {
        for rank in [0, 1, 100] {
            assert!(Version::new(7, rank).asked() > Version::new(7, 127));
            assert!(Version::new(7, rank).asked() < Version::new(8, 0));
        }
        assert!(Version::new(7, 2).asked() > Version::new(7, 1).asked());
    }

    #[test]
    fn facts_without_sequence_are_ordered_by_their_instant_then_rank() {
        let at =
            |us, rank| Version::from_instant_below_sequences(Timestamp::from_microsecond(us).unwrap(), rank);
        assert!(at(1, 5) < at(2, 1));
        assert!(at(2, 1) < at(2, 2));
    }

    #[test]
    fn sequences_beyond_the_exact_range_of_a_double_stay_exact() {
        let (a, b) = (9_007_199_254_740_992, 9_007_199_254_740_993);
        assert!(Version::from_sequence(a) < Version::from_sequence(b));
        assert_eq!(Version::from_sequence(-1), None);
    }
}
