//! Lengths of time and instants on the command line.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize as _, de::value};
use service::settings::Span;
use uuid::Uuid;

/// The argument of `--since`: how long ago, or an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// This long before now.
    Ago(Duration),
    /// This instant.
    At(Timestamp),
}

impl Since {
    /// The instant meant.
    pub(crate) fn instant(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(instant) => instant,
            Self::Ago(length) => now.checked_sub(length).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }

    /// The smallest id of that instant.
    pub(crate) fn first_id(self, now: Timestamp) -> Uuid {
        db::ids::first_id(self.instant(now))
    }
}

/// Reads `30s`, `5m`, `24h`, `7d`.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let written = value::StrDeserializer::<value::Error>::new(text);
    Span::deserialize(written).map(Span::get).map_err(|error| error.to_string())
}

/// Reads a length of time or an instant with its zone.
pub(crate) fn since(text: &str) -> Result<Since, String> {
    if let Ok(ago) = length(text) {
        return Ok(Since::Ago(ago));
    }
    text.parse().map(Since::At).map_err(|_| {
        format!("\"{text}\" is neither a length of time (30m, 24h, 7d) nor an instant (2026-01-02T03:04:05Z)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_instants_are_understood_and_nothing_else() {
        assert_eq!(since("2h"), Ok(Since::Ago(Duration::from_secs(7200))));
        assert!(matches!(since("2026-01-02T03:04:05Z"), Ok(Since::At(_))));
        assert!(since("yesterday").unwrap_err().contains("yesterday"));
        assert!(length("5").is_err());
    }
}
