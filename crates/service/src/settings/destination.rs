//! `[destinations.NAME]`: how one destination is treated, whatever its kind.

use serde::Deserialize;

use crate::settings::{Rate, Reach, Span};

/// One destination.
#[derive(Debug, Clone)]
pub struct DestinationSettings {
    /// How it is reached: `type` and the keys that go with it.
    pub reach: Reach,
    /// How it is treated.
    pub care: Care,
}

/// The keys that every kind of destination has.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Care {
    /// Whether a missing variable is a fault.
    #[serde(default)]
    pub required: bool,
    /// Instead of `publisher.concurrency`. Holds over all publishers together.
    pub concurrency: Option<usize>,
    /// Most calls in a length of time, over all publishers together.
    pub rate: Option<Rate>,
    /// Instead of `publisher.attempts_max`.
    pub attempts_max: Option<u32>,
    /// Instead of `publisher.backoff_base`.
    pub backoff_base: Option<Span>,
    /// Instead of `publisher.backoff_cap`.
    pub backoff_cap: Option<Span>,
    /// Instead of `publisher.request_timeout`.
    pub request_timeout: Option<Span>,
    /// An effect older than this is not sent any more: it is dead.
    pub age_max: Option<Span>,
    /// What becomes of the later effects of a resource when one is dead.
    #[serde(default)]
    pub after_dead: AfterDead,
}

impl Care {
    /// The keys, which no kind may have for itself.
    pub(crate) const KEYS: [&str; 9] = [
        "required",
        "concurrency",
        "rate",
        "attempts_max",
        "backoff_base",
        "backoff_cap",
        "request_timeout",
        "age_max",
        "after_dead",
    ];
}

/// What becomes of the effects of one resource that stand behind a dead one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterDead {
    /// They go on.
    #[default]
    Skip,
    /// They wait until an operator retries or discards the dead one.
    Hold,
}
