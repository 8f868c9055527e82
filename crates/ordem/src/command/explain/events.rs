//! The events of a resource, each with what became of it and why.

use db::operations::EventStory;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::{Pair, pair, why::Told};

/// One event.
#[derive(Debug, Serialize)]
pub(crate) struct Event {
    pub(crate) event_id: Uuid,
    #[serde(rename = "type")]
    pub(crate) event_type: Option<String>,
    /// `webhook`, `reconcile` or `backfill`.
    pub(crate) origin: String,
    pub(crate) dedup_key: Option<String>,
    pub(crate) received_at: Timestamp,
    pub(crate) applied_at: Option<Timestamp>,
    /// As in the view, or `pending`.
    pub(crate) outcome: String,
    /// In words.
    pub(crate) why: String,
    /// Status its fact tells; null when it tells none.
    pub(crate) status: Option<String>,
    /// Version of its fact; null when it has none.
    pub(crate) version: Option<Pair>,
    /// The change of the row's status that it caused.
    pub(crate) transition: Option<Transition>,
    pub(crate) attempts: i32,
    pub(crate) next_attempt_at: Option<Timestamp>,
    pub(crate) last_error: Option<String>,
    /// Only with `--body`, with what the profile redacts blanked; bytes that are no UTF-8 are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
}

/// A change of status.
#[derive(Debug, Serialize)]
pub(crate) struct Transition {
    /// Null for the first fact.
    pub(crate) from: Option<String>,
    pub(crate) to: String,
}

/// Puts what is told to what was stored.
///
/// Bodies are shown where `body_of` says how.
pub(crate) fn all(
    stored: Vec<EventStory>,
    told: Vec<Told>,
    body_of: Option<&dyn Fn(&EventStory) -> String>,
) -> Vec<Event> {
    stored.into_iter().zip(told).map(|(story, told)| event(story, told, body_of)).collect()
}

fn event(story: EventStory, told: Told, body_of: Option<&dyn Fn(&EventStory) -> String>) -> Event {
    let body = body_of.map(|body_of| body_of(&story));
    let from = story.status_from;
    Event {
        event_id: story.event_id,
        event_type: story.event_type,
        origin: story.origin.as_str().to_owned(),
        dedup_key: story.dedup_key,
        received_at: story.received_at,
        applied_at: story.applied_at,
        outcome: story.outcome.unwrap_or_else(|| "pending".to_owned()),
        why: told.why,
        status: told.fact.as_ref().map(|fact| fact.status.clone()),
        version: told.fact.as_ref().map(|fact| pair(fact.version)),
        transition: story.status_to.map(|to| Transition { from, to }),
        attempts: story.attempts,
        next_attempt_at: story.due_at,
        last_error: story.last_error,
        body,
    }
}
