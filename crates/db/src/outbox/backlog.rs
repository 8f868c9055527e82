//! How much waits, for metrics.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// What waits for one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Which.
    pub destination: String,
    /// Could be sent now.
    pub due: i64,
    /// Between two attempts, or behind another of their lane.
    pub waiting: i64,
    /// On their way.
    pub leased: i64,
    /// When the oldest was born: ids grow with time.
    pub oldest: Option<Timestamp>,
}

/// Counts what waits, for each destination that anything waits for. Reads the whole queue.
///
/// # Errors
/// When the database refuses or is away.
pub async fn backlog(client: &impl GenericClient, now: Timestamp) -> Result<Vec<Backlog>> {
    let statement = client.prepare_cached(include_str!("backlog.sql")).await?;
    let rows = client.query(&statement, &[&now]).await?;
    Ok(rows
        .iter()
        .map(|row| Backlog {
            destination: row.get(0),
            due: row.get(1),
            waiting: row.get(2),
            leased: row.get(3),
            oldest: row.get(4),
        })
        .collect())
}
