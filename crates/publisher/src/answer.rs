//! What came of carrying an effect, whatever the kind of its destination.

use std::time::Duration;

use crate::excerpt::excerpt;

pub(crate) use crate::verdict::Meaning;

/// Most of a reason that is kept, in bytes.
const REASON_BYTES_MAX: usize = 1024;

/// What came of an attempt.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) meaning: Meaning,
    /// The destination's own number for it: of HTTP, of SMTP.
    pub(crate) status: Option<u16>,
    /// Why it is no success.
    pub(crate) error: Option<String>,
    /// The beginning of what it said.
    pub(crate) excerpt: Option<String>,
    /// How long it asks to be left alone.
    pub(crate) asked: Option<Duration>,
    /// Whether the effect was marked as delivered together with the work itself: then there is nothing to write.
    pub(crate) is_recorded: bool,
}

impl Answer {
    /// It arrived.
    pub(crate) const fn delivered() -> Self {
        Self {
            meaning: Meaning::Delivered,
            status: None,
            error: None,
            excerpt: None,
            asked: None,
            is_recorded: false,
        }
    }

    /// It did not, and trying again may help. The reason is made harmless for tables, logs and terminals.
    pub(crate) fn transient(reason: &str) -> Self {
        Self::failed(Meaning::Transient, reason)
    }

    /// It did not, and trying again brings the same.
    pub(crate) fn permanent(reason: &str) -> Self {
        Self::failed(Meaning::Permanent, reason)
    }

    fn failed(meaning: Meaning, reason: &str) -> Self {
        let error = excerpt(reason.as_bytes(), REASON_BYTES_MAX);
        Self { meaning, error, ..Self::delivered() }
    }
}
