//! The effects of a resource, each with the calls it took.

use db::operations::{Attempt, EffectStory};
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::{Pair, pair};

/// One effect.
#[derive(Debug, Serialize)]
pub(crate) struct Effect {
    pub(crate) effect_id: Uuid,
    pub(crate) effect: String,
    /// What makes it distinct; empty for one that happens once.
    pub(crate) key: String,
    pub(crate) destination: String,
    /// `pending`, `delivered`, `dead` or `discarded`.
    pub(crate) state: String,
    /// The event whose fact made it due.
    pub(crate) trigger_event_id: Uuid,
    /// The row when it was born.
    pub(crate) status: String,
    pub(crate) version: Pair,
    pub(crate) created_at: Timestamp,
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) attempts: i32,
    /// Not before this instant; null unless pending and not being delivered.
    pub(crate) next_attempt_at: Option<Timestamp>,
    /// Whether a publisher has it in this moment.
    pub(crate) is_leased: bool,
    pub(crate) last_error: Option<String>,
    /// The group of its failure, as `ordem effects groups` tells it; null unless it is dead or tried again.
    pub(crate) failure_group: Option<String>,
    /// Calls to the destination, the oldest first.
    pub(crate) calls: Vec<Call>,
}

/// One call.
#[derive(Debug, Serialize)]
pub(crate) struct Call {
    pub(crate) attempt: i32,
    pub(crate) started_at: Timestamp,
    pub(crate) duration_ms: i32,
    /// `delivered`, `transient` or `permanent`.
    pub(crate) result: String,
    pub(crate) http_status: Option<i32>,
    pub(crate) error: Option<String>,
    /// The beginning of the answer, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_excerpt: Option<String>,
}

/// Puts calls to their effects.
pub(crate) fn all(effects: Vec<EffectStory>, calls: Vec<Attempt>) -> Vec<Effect> {
    let mut effects: Vec<Effect> = effects.into_iter().map(effect).collect();
    for call in calls {
        if let Some(effect) = effects.iter_mut().find(|effect| effect.effect_id == call.effect_id) {
            effect.calls.push(Call {
                attempt: call.attempt,
                started_at: call.started_at,
                duration_ms: call.duration_ms,
                result: call.result,
                http_status: call.http_status,
                error: call.error,
                response_excerpt: call.response_excerpt,
            });
        }
    }
    effects
}

fn effect(story: EffectStory) -> Effect {
    Effect {
        effect_id: story.effect_id,
        effect: story.effect,
        key: story.key,
        destination: story.destination,
        state: story.state,
        trigger_event_id: story.event_id,
        status: story.status,
        version: pair(story.version),
        created_at: story.created_at,
        finished_at: story.finished_at,
        attempts: story.attempts,
        next_attempt_at: story.due_at.filter(|_| !story.is_leased),
        is_leased: story.is_leased,
        last_error: story.last_error,
        failure_group: story.failure_group,
        calls: Vec::new(),
    }
}
