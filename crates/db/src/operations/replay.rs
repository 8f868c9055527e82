//! Events that were set aside: found, and put back into the queue.

use deadpool_postgres::GenericClient;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::Result;

/// Outcomes that may be taken back: whatever `decide` never saw.
pub const REPLAYABLE: [&str; 4] = ["dead", "malformed", "ignored", "test"];

/// How an event stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventState {
    /// Which event.
    pub event_id: Uuid,
    /// The endpoint it came by.
    pub source: String,
    /// Its outcome, or `pending`.
    pub outcome: String,
}

/// How those of these events stand that exist.
///
/// # Errors
/// When the database refuses or is away.
pub async fn states_of(client: &impl GenericClient, events: &[Uuid]) -> Result<Vec<EventState>> {
    let rows = client.query(include_str!("states_of.sql"), &[&events]).await?;
    let state = |row: &tokio_postgres::Row| EventState {
        event_id: row.get(0),
        source: row.get(1),
        outcome: row.get(2),
    };
    Ok(rows.iter().map(state).collect())
}

/// At most `limit` events of a source with ids above `after` and below `below` that ended in one of these outcomes, in
/// the order of their ids.
///
/// # Errors
/// When the database refuses or is away.
pub async fn set_aside(
    client: &impl GenericClient,
    source: &str,
    outcomes: &[&str],
    (after, below): (Uuid, Uuid),
    limit: i64,
) -> Result<Vec<Uuid>> {
    let parameters: [&(dyn ToSql + Sync); 5] = [&source, &outcomes, &after, &limit, &below];
    let rows = client.query(include_str!("set_aside.sql"), &parameters).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Takes back the outcomes of those of these events that may be replayed, queues them as if they had just come,
/// and hints the appliers. One statement; returns them.
///
/// # Errors
/// When the database refuses or is away.
pub async fn replay(client: &impl GenericClient, events: &[Uuid]) -> Result<Vec<Uuid>> {
    let rows = client.query(include_str!("replay.sql"), &[&events]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
