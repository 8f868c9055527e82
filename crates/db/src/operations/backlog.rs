//! What waits: in the inbox, and for each destination.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Result, operations::made_at};

/// What waits in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxBacklog {
    /// Events nobody has looked at yet.
    pub queued: i64,
    /// Events that failed and wait for their next attempt.
    pub retrying: i64,
    /// Those of them whose time has come.
    pub retries_due: i64,
    /// When the oldest of all of them came.
    pub oldest_at: Option<Timestamp>,
}

/// Counts what waits in the inbox.
///
/// # Errors
/// When the database refuses or is away.
pub async fn inbox_backlog(client: &impl GenericClient, now: Timestamp) -> Result<InboxBacklog> {
    let row = client.query_one(include_str!("inbox_backlog.sql"), &[&now]).await?;
    Ok(InboxBacklog {
        queued: row.get(0),
        oldest_at: row.get::<_, Option<Uuid>>(1).and_then(made_at),
        retrying: row.get(2),
        retries_due: row.get(3),
    })
}

/// How many events ended in a way that an operator should see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// `dead`, `malformed` or `terminal_regression`.
    pub outcome: String,
    /// How many, as far back as events are kept.
    pub events: i64,
}

/// Counts the events in trouble.
///
/// # Errors
/// When the database refuses or is away.
pub async fn trouble(client: &impl GenericClient) -> Result<Vec<Trouble>> {
    let rows = client.query(include_str!("trouble.sql"), &[]).await?;
    Ok(rows.iter().map(|row| Trouble { outcome: row.get(0), events: row.get(1) }).collect())
}

/// What waits for one destination.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DestinationBacklog {
    /// Which one.
    pub destination: String,
    /// Effects not yet delivered.
    pub pending: i64,
    /// Those whose time has come.
    pub due: i64,
    /// Those being delivered in this moment.
    pub leased: i64,
    /// Those that failed at least once and wait.
    pub retrying: i64,
    /// When the oldest of them was written.
    pub oldest_at: Option<Timestamp>,
    /// Effects that were given up, as far back as effects are kept.
    pub dead: i64,
    /// Since when an operator holds it.
    pub paused_at: Option<Timestamp>,
    /// Why.
    pub paused_reason: Option<String>,
}

/// Counts what waits for each destination that has something waiting, dead or paused.
///
/// # Errors
/// When the database refuses or is away.
pub async fn destination_backlogs(
    client: &impl GenericClient,
    now: Timestamp,
) -> Result<Vec<DestinationBacklog>> {
    let rows = client.query(include_str!("destination_backlogs.sql"), &[&now]).await?;
    let backlog = |row: &tokio_postgres::Row| DestinationBacklog {
        destination: row.get(0),
        pending: row.get(1),
        due: row.get(2),
        leased: row.get(3),
        retrying: row.get(4),
        oldest_at: row.get::<_, Option<Uuid>>(5).and_then(made_at),
        dead: row.get(6),
        paused_at: row.get(7),
        paused_reason: row.get(8),
    };
    Ok(rows.iter().map(backlog).collect())
}
