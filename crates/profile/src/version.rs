//! What orders the facts of one resource: sequence, instant, or the status's rank alone.

use domain::Version;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::instant::{Precision, Spelling};
use crate::leaf::{Leaf, integer};
use crate::place::Place;
use crate::shape::Leaves;

/// What settles two facts of equal version that tell different things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tie {
    /// The status's rank, then the values.
    #[default]
    Rank,
    /// The provider is asked, and its word wins.
    Refetch,
}

/// One source and kind, one criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Criterion {
    /// The provider counts the changes of each resource. A fact without a number is older than all that have one.
    Sequence,
    /// The instant of the fact, then the status's rank.
    Instant,
    /// The status's rank alone, where the provider dates nothing.
    Rank,
}

/// The profile's rules for versions.
#[derive(Clone, Debug)]
pub(crate) struct VersionRules {
    pub(crate) criterion: Criterion,
    pub(crate) precision: Precision,
    pub(crate) future_tolerance: SignedDuration,
}

/// Where one kind of document keeps what its version is made of.
#[derive(Clone, Debug)]
pub(crate) struct VersionPlaces {
    pub(crate) sequence: Option<Place>,
    /// Whether the digits of a text are a sequence: where there are only texts.
    pub(crate) sequence_is_text: bool,
    pub(crate) instants: Vec<(Place, Spelling)>,
}

impl VersionPlaces {
    /// The sequence, if there is a usable one: a whole number from 0 to the largest 64-bit integer.
    /// A text, a negative or a larger number is no sequence.
    pub(crate) fn sequence(&self, leaves: &Leaves<'_>, headers: &dyn signature::Headers) -> Option<i64> {
        match self.sequence.as_ref()?.leaf(leaves, headers).ok()? {
            Leaf::Number(digits) => integer(&digits).filter(|sequence| *sequence >= 0),
            Leaf::Text(digits) if self.sequence_is_text => integer(&digits).filter(|sequence| *sequence >= 0),
            _ => None,
        }
    }

    /// The instant at the first place that has a value.
    ///
    /// # Errors
    /// No place has one, or the first that has one cannot be read.
    pub(crate) fn instant(
        &self,
        leaves: &Leaves<'_>,
        headers: &dyn signature::Headers,
    ) -> Result<Timestamp, String> {
        for (place, spelling) in &self.instants {
            let leaf = place.leaf(leaves, headers).map_err(|error| error.to_string())?;
            if leaf.is_empty() {
                continue;
            }
            return spelling.read(&leaf).map_err(|reason| format!("instant {place}: {reason}"));
        }
        let places: Vec<String> = self.instants.iter().map(|(place, _)| place.to_string()).collect();
        match places.is_empty() {
            true => Err("there is no usable sequence, and the profile names no instant".to_owned()),
            false => Err(format!("there is no usable sequence and no instant at {}", places.join(" or "))),
        }
    }
}

impl VersionRules {
    /// The version of a fact with a status of this rank.
    ///
    /// # Errors
    /// Why the fact cannot be ordered. An instant only matters when the version is made of it.
    pub(crate) fn version(
        &self,
        places: &VersionPlaces,
        leaves: &Leaves<'_>,
        headers: &dyn signature::Headers,
        rank: u8,
        received_at: Timestamp,
    ) -> Result<Version, String> {
        let instant = || {
            let instant = places.instant(leaves, headers)?;
            self.not_ahead(instant, received_at).map(|()| self.precision.cut(instant))
        };
        match self.criterion {
            Criterion::Sequence => match places.sequence(leaves, headers).and_then(Version::from_sequence) {
                Some(version) => Ok(version),
                None => Ok(Version::from_instant_below_sequences(instant()?, rank)),
            },
            Criterion::Instant => Ok(Version::from_instant(instant()?, rank)),
            Criterion::Rank => Ok(Version::new(0, rank)),
        }
    }

    /// Sets aside an instant from the future: it would win every later comparison.
    fn not_ahead(&self, instant: Timestamp, received_at: Timestamp) -> Result<(), String> {
        let ahead = instant.duration_since(received_at);
        if ahead <= self.future_tolerance {
            return Ok(());
        }
        let hours = ahead.as_hours();
        Err(format!("instant {instant} is {hours} hours ahead of its arrival"))
    }

    /// What makes two readings of one resource the same reading, for a dedup key.
    pub(crate) fn mark(&self, places: &VersionPlaces, leaves: &Leaves<'_>) -> String {
        let sequence = match self.criterion {
            Criterion::Sequence => places.sequence(leaves, &()),
            Criterion::Instant | Criterion::Rank => None,
        };
        match (sequence, places.instant(leaves, &())) {
            (Some(sequence), _) => format!("seq:{sequence}"),
            (None, Ok(instant)) => format!("at:{}", self.precision.cut(instant)),
            (None, Err(_)) => "none".to_owned(),
        }
    }
}
