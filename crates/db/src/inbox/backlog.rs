//! How much waits in the inbox, and for how long.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// What waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Events nobody has looked at, counted up to a million.
    pub queued: i64,
    /// Events that wait for another attempt.
    pub retries: i64,
    /// Age of the oldest of both, by its arrival; zero when nothing waits.
    pub oldest: Duration,
}

/// Counts what waits.
///
/// # Errors
/// When the database refuses or is away.
pub async fn backlog(client: &impl GenericClient, now: Timestamp) -> Result<Backlog> {
    let statement = client.prepare_cached(include_str!("backlog.sql")).await?;
    let row = client.query_one(&statement, &[]).await?;
    let oldest: Option<Timestamp> = row.get(2);
    let oldest =
        oldest.map_or(Duration::ZERO, |at| Duration::try_from(now.duration_since(at)).unwrap_or_default());
    Ok(Backlog { queued: row.get(0), retries: row.get(1), oldest })
}
