//! What went on of late: outcomes, refused requests, and how far the reconciler has read.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::Result;

/// Events of one source that ended in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecentOutcome {
    /// Which source.
    pub source: String,
    /// Their outcome, or `pending`.
    pub outcome: String,
    /// How many.
    pub events: i64,
    /// When the first of them came.
    pub first_received_at: Timestamp,
}

/// Counts what became of the newest events with ids from `from` on, at most `limit` of them.
///
/// # Errors
/// When the database refuses or is away.
pub async fn recent_outcomes(
    client: &impl GenericClient,
    from: Uuid,
    limit: i64,
) -> Result<Vec<RecentOutcome>> {
    let rows = client.query(include_str!("recent_outcomes.sql"), &[&from, &limit]).await?;
    let outcome = |row: &tokio_postgres::Row| RecentOutcome {
        source: row.get(0),
        outcome: row.get(1),
        events: row.get(2),
        first_received_at: row.get(3),
    };
    Ok(rows.iter().map(outcome).collect())
}

/// Samples of refused requests of one source with one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecentRefusal {
    /// Which source.
    pub source: String,
    /// Why they were refused.
    pub reason: String,
    /// How many were kept: at most one a second.
    pub samples: i64,
}

/// Counts the samples of refused requests with ids from `from` on.
///
/// # Errors
/// When the database refuses or is away.
pub async fn recent_refusals(client: &impl GenericClient, from: Uuid) -> Result<Vec<RecentRefusal>> {
    let rows = client.query(include_str!("recent_refusals.sql"), &[&from]).await?;
    let refusal = |row: &tokio_postgres::Row| RecentRefusal {
        source: row.get(0),
        reason: row.get(1),
        samples: row.get(2),
    };
    Ok(rows.iter().map(refusal).collect())
}

/// How far the reconciler has read one list of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Which source.
    pub source: String,
    /// Which list.
    pub name: String,
    /// Everything that changed before this is read.
    pub value: Timestamp,
    /// When it last moved.
    pub updated_at: Timestamp,
}

/// All cursors.
///
/// # Errors
/// When the database refuses or is away.
pub async fn cursors(client: &impl GenericClient) -> Result<Vec<Cursor>> {
    let rows = client.query(include_str!("cursors.sql"), &[]).await?;
    let cursor = |row: &tokio_postgres::Row| Cursor {
        source: row.get(0),
        name: row.get(1),
        value: row.get(2),
        updated_at: row.get(3),
    };
    Ok(rows.iter().map(cursor).collect())
}
