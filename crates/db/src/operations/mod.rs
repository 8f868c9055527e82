//! What operators ask and put right: backlogs, lists, the story of one resource, replay and requeue.
//!
//! Cheap on big tables: whatever is not a queue is read from an id on, which leaves the older partitions alone.
//! Not for daemons.

mod activity;
mod backlog;
mod discard;
mod failures;
mod lists;
mod pause;
mod refused;
mod replay;
mod requeue;
mod selection;
mod story;

use jiff::Timestamp;
use uuid::Uuid;

pub use activity::{Cursor, RecentOutcome, RecentRefusal, cursors, recent_outcomes, recent_refusals};
pub use backlog::{DestinationBacklog, InboxBacklog, Trouble, destination_backlogs, inbox_backlog, trouble};
pub use discard::discard;
pub use failures::{FailureGroup, failure_groups};
pub use lists::{ListedEffect, ListedEvent, ListedRefusal, list_effects, list_events, list_refused};
pub use pause::{Paused, pause, resume};
pub use refused::{RefusedSample, forget_refused, refused_samples};
pub use replay::{EventState, REPLAYABLE, replay, set_aside, states_of};
pub use requeue::{EffectState, effects_by_id, requeue};
pub use selection::{EffectSelection, SelectedState, select_effects};
pub use story::{
    Attempt, EffectStory, EventStory, attempts_of, effects_of, events_of, known_kinds, resource_times,
};

/// When this id was made; `None` for an id that is no `UUIDv7`.
pub fn made_at(id: Uuid) -> Option<Timestamp> {
    let (seconds, nanoseconds) = id.get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanoseconds).ok()?).ok()
}
