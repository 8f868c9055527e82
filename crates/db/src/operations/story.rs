//! All that is known of one resource: its events, its effects, and each call they took.

use deadpool_postgres::GenericClient;
use domain::{ResourceId, Version};
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{Result, inbox::Origin};

/// An event with what became of it.
#[derive(Debug, Clone)]
pub struct EventStory {
    /// Its id.
    pub event_id: Uuid,
    /// Its key, if it has one.
    pub dedup_key: Option<String>,
    /// The provider's name for it.
    pub event_type: Option<String>,
    /// How it came.
    pub origin: Origin,
    /// When it came.
    pub received_at: Timestamp,
    /// The headers kept beside the body, as a JSON object.
    pub headers: Option<String>,
    /// The bytes as received.
    pub body: Vec<u8>,
    /// How it ended; `None` while it waits.
    pub outcome: Option<String>,
    /// Why, as the applier noted it.
    pub reason: Option<String>,
    /// The status the row left.
    pub status_from: Option<String>,
    /// The status the row entered.
    pub status_to: Option<String>,
    /// When it was applied.
    pub applied_at: Option<Timestamp>,
    /// Attempts it took so far.
    pub attempts: i32,
    /// When its next attempt is due, if one failed.
    pub due_at: Option<Timestamp>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// Whether it waits in the queue.
    pub is_queued: bool,
}

/// The newest events of a resource, at most `limit`, and besides them those with the ids in `also`; in order
/// of arrival.
///
/// # Errors
/// When the database refuses or is away.
pub async fn events_of(
    client: &impl GenericClient,
    resource: &ResourceId,
    also: &[Uuid],
    limit: i64,
) -> Result<Vec<EventStory>> {
    let ResourceId { source, kind, id } = resource;
    let rows = client.query(include_str!("events_of.sql"), &[source, kind, id, &also, &limit]).await?;
    Ok(rows.iter().map(event).collect())
}

fn event(row: &Row) -> EventStory {
    EventStory {
        event_id: row.get(0),
        dedup_key: row.get(1),
        event_type: row.get(2),
        // The table's check allows no other word.
        origin: Origin::parse(row.get(3)).unwrap_or(Origin::Webhook),
        received_at: row.get(4),
        headers: row.get(5),
        body: row.get(6),
        outcome: row.get(7),
        reason: row.get(8),
        status_from: row.get(9),
        status_to: row.get(10),
        applied_at: row.get(11),
        attempts: row.get(12),
        due_at: row.get(13),
        last_error: row.get(14),
        is_queued: row.get(15),
    }
}

/// An effect with how it stands.
#[derive(Debug, Clone)]
pub struct EffectStory {
    /// Its id.
    pub effect_id: Uuid,
    /// Its name.
    pub effect: String,
    /// What makes it distinct; empty for one that happens once.
    pub key: String,
    /// Where it goes.
    pub destination: String,
    /// Its place among the effects of its resource.
    pub sequence: i32,
    /// The event whose fact made it due.
    pub event_id: Uuid,
    /// The row's status when it was born.
    pub status: String,
    /// The row's version when it was born.
    pub version: Version,
    /// When it was born.
    pub created_at: Timestamp,
    /// `pending`, `delivered`, `dead` or `discarded`.
    pub state: String,
    /// Attempts begun.
    pub attempts: i32,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Why the last attempt failed, or why it was discarded.
    pub last_error: Option<String>,
    /// The group of its failure; `None` unless it is dead or is tried again.
    pub failure_group: Option<String>,
    /// While pending: not before this instant; while leased: the end of the lease. `None` once it has ended.
    pub due_at: Option<Timestamp>,
    /// Whether a publisher has it.
    pub is_leased: bool,
}

/// The effects of a resource in their order.
///
/// # Errors
/// When the database refuses or is away.
pub async fn effects_of(client: &impl GenericClient, resource: &ResourceId) -> Result<Vec<EffectStory>> {
    let ResourceId { source, kind, id } = resource;
    let rows = client.query(include_str!("effects_of.sql"), &[source, kind, id]).await?;
    Ok(rows.iter().map(effect).collect())
}

fn effect(row: &Row) -> EffectStory {
    let rank: i16 = row.get(8);
    EffectStory {
        effect_id: row.get(0),
        effect: row.get(1),
        key: row.get(2),
        destination: row.get(3),
        sequence: row.get(4),
        event_id: row.get(5),
        status: row.get(6),
        version: Version::new(row.get(7), u8::try_from(rank).unwrap_or(0)),
        created_at: row.get(9),
        state: row.get(10),
        attempts: row.get(11),
        finished_at: row.get(12),
        last_error: row.get(13),
        due_at: row.get(14),
        is_leased: row.get(15),
        failure_group: row.get(16),
    }
}

/// One call to a destination.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Whose.
    pub effect_id: Uuid,
    /// Its number, from 1; a requeued effect starts again.
    pub attempt: i32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration_ms: i32,
    /// `delivered`, `transient` or `permanent`.
    pub result: String,
    /// The answer's status, if there was an answer.
    pub http_status: Option<i32>,
    /// What went wrong.
    pub error: Option<String>,
    /// The beginning of the answer, where it was kept.
    pub response_excerpt: Option<String>,
}

/// The calls that these effects took, for each effect in order.
///
/// # Errors
/// When the database refuses or is away.
pub async fn attempts_of(client: &impl GenericClient, effects: &[Uuid]) -> Result<Vec<Attempt>> {
    let rows = client.query(include_str!("attempts_of.sql"), &[&effects]).await?;
    let attempt = |row: &Row| Attempt {
        effect_id: row.get(0),
        attempt: row.get(1),
        started_at: row.get(2),
        duration_ms: row.get(3),
        result: row.get(4),
        http_status: row.get(5),
        error: row.get(6),
        response_excerpt: row.get(7),
    };
    Ok(rows.iter().map(attempt).collect())
}

/// When the row was made and last written; `None` without a row.
///
/// # Errors
/// When the database refuses or is away.
pub async fn resource_times(
    client: &impl GenericClient,
    resource: &ResourceId,
) -> Result<Option<(Timestamp, Timestamp)>> {
    let ResourceId { source, kind, id } = resource;
    let row = client.query_opt(include_str!("resource_times.sql"), &[source, kind, id]).await?;
    Ok(row.map(|row| (row.get(0), row.get(1))))
}

/// Each source with each kind of which there are rows.
///
/// # Errors
/// When the database refuses or is away.
pub async fn known_kinds(client: &impl GenericClient) -> Result<Vec<(String, String)>> {
    let rows = client.query(include_str!("known_kinds.sql"), &[]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}
