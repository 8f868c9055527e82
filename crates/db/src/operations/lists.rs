//! Lists of events, effects and refused requests, newest first.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Result;

/// A row of the view `ordem.events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the columns of the view")]
pub struct ListedEvent {
    pub event_id: Uuid,
    pub source: String,
    pub dedup_key: Option<String>,
    pub event_type: Option<String>,
    pub kind: Option<String>,
    pub resource_id: Option<String>,
    pub origin: String,
    pub received_at: Timestamp,
    pub applied_at: Option<Timestamp>,
    /// `pending` where the view says null.
    pub outcome: String,
    pub attempts: i32,
    pub last_error: Option<String>,
}

/// Events with ids from `from` on, of this source and with this outcome (or `pending`) if given.
///
/// # Errors
/// When the database refuses or is away.
pub async fn list_events(
    client: &impl GenericClient,
    from: Uuid,
    source: Option<&str>,
    outcome: Option<&str>,
    limit: i64,
) -> Result<Vec<ListedEvent>> {
    // Where an index or a queue leads to the few rows wanted, the many others are not looked at.
    let rows = match outcome {
        Some("pending") => {
            client.query(include_str!("list_events_pending.sql"), &[&from, &source, &limit]).await?
        }
        Some("dead" | "malformed" | "terminal_regression") => {
            client
                .query(include_str!("list_events_set_aside.sql"), &[&from, &source, &outcome, &limit])
                .await?
        }
        _ => client.query(include_str!("list_events.sql"), &[&from, &source, &outcome, &limit]).await?,
    };
    let event = |row: &Row| ListedEvent {
        event_id: row.get(0),
        source: row.get(1),
        dedup_key: row.get(2),
        event_type: row.get(3),
        kind: row.get(4),
        resource_id: row.get(5),
        origin: row.get(6),
        received_at: row.get(7),
        applied_at: row.get(8),
        outcome: row.get(9),
        attempts: row.get(10),
        last_error: row.get(11),
    };
    Ok(rows.iter().map(event).collect())
}

/// A row of the view `ordem.effects`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the columns of the view")]
pub struct ListedEffect {
    pub effect_id: Uuid,
    pub source: String,
    pub kind: String,
    pub resource_id: String,
    pub effect: String,
    pub destination: String,
    pub state: String,
    pub attempts: i32,
    pub created_at: Timestamp,
    pub delivered_at: Option<Timestamp>,
    pub last_error: Option<String>,
}

/// Effects with ids from `from` on, to this destination and in this state if given.
///
/// # Errors
/// When the database refuses or is away.
pub async fn list_effects(
    client: &impl GenericClient,
    from: Uuid,
    destination: Option<&str>,
    state: Option<&str>,
    limit: i64,
) -> Result<Vec<ListedEffect>> {
    let rows = match state {
        Some("pending") => {
            client.query(include_str!("list_effects_pending.sql"), &[&from, &destination, &limit]).await?
        }
        Some("dead") => {
            client.query(include_str!("list_effects_dead.sql"), &[&from, &destination, &limit]).await?
        }
        _ => client.query(include_str!("list_effects.sql"), &[&from, &destination, &state, &limit]).await?,
    };
    let effect = |row: &Row| ListedEffect {
        effect_id: row.get(0),
        source: row.get(1),
        kind: row.get(2),
        resource_id: row.get(3),
        effect: row.get(4),
        destination: row.get(5),
        state: row.get(6),
        attempts: row.get(7),
        created_at: row.get(8),
        delivered_at: row.get(9),
        last_error: row.get(10),
    };
    Ok(rows.iter().map(effect).collect())
}

/// A sample of a refused request, without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedRefusal {
    /// Its id.
    pub refusal_id: Uuid,
    /// The endpoint it came to.
    pub source: String,
    /// When.
    pub refused_at: Timestamp,
    /// Why.
    pub reason: String,
    /// The size its body had.
    pub body_bytes: i64,
    /// Whether all of the body was kept, so that it can be verified again.
    pub is_whole: bool,
}

/// Samples with ids from `from` on, of this source if given.
///
/// # Errors
/// When the database refuses or is away.
pub async fn list_refused(
    client: &impl GenericClient,
    from: Uuid,
    source: Option<&str>,
    limit: i64,
) -> Result<Vec<ListedRefusal>> {
    let rows = client.query(include_str!("list_refused.sql"), &[&from, &source, &limit]).await?;
    let refusal = |row: &Row| ListedRefusal {
        refusal_id: row.get(0),
        source: row.get(1),
        refused_at: row.get(2),
        reason: row.get(3),
        body_bytes: row.get(4),
        is_whole: row.get(5),
    };
    Ok(rows.iter().map(refusal).collect())
}
