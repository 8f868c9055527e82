//! The signed time: where it stands, and how far from now it may be.

use crate::Refusal;
use crate::scheme::{SchemeError, header_name};
use crate::signed_spec::{Sides, TimestampSpec, Unit};

#[derive(Clone, Debug)]
pub(crate) enum TimeFrom {
    Signature,
    Header(String),
}

#[derive(Clone, Debug)]
pub(crate) struct SignedTime {
    pub(crate) from: TimeFrom,
    pub(crate) unit: Unit,
    tolerance_seconds: u32,
    sides: Sides,
}

impl SignedTime {
    /// The header that holds it.
    pub(crate) fn header(&self) -> Option<&str> {
        match &self.from {
            TimeFrom::Header(name) => Some(name),
            TimeFrom::Signature => None,
        }
    }

    pub(crate) fn allows(&self, at: i64, now: i64) -> bool {
        let per_second = i128::from(self.unit.per_second());
        let age = i128::from(now) * per_second - i128::from(at);
        let tolerance = i128::from(self.tolerance_seconds) * per_second;
        age <= tolerance && (self.sides == Sides::Past || -age <= tolerance)
    }
}

impl Unit {
    pub(crate) fn per_second(self) -> i64 {
        match self {
            Unit::Seconds => 1,
            Unit::Milliseconds => 1000,
        }
    }
}

pub(crate) fn signed_time(spec: &TimestampSpec) -> Result<SignedTime, SchemeError> {
    let from = match spec.from.split_once(':') {
        None if spec.from == "signature" => TimeFrom::Signature,
        Some(("header", name)) => TimeFrom::Header(header_name(name)?),
        _ => return Err(SchemeError::Time("timestamp.from is neither \"signature\" nor \"header:NAME\"")),
    };
    if spec.tolerance_seconds == 0 {
        return Err(SchemeError::Tolerance);
    }
    Ok(SignedTime { from, unit: spec.unit, tolerance_seconds: spec.tolerance_seconds, sides: spec.sides })
}

/// Reads whole seconds or milliseconds since 1970: digits only, not longer than any time in use.
pub(crate) fn number(text: &[u8]) -> Result<i64, Refusal> {
    let text = text.trim_ascii();
    if text.is_empty() || text.len() > 15 || !text.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::Malformed);
    }
    Ok(text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}
