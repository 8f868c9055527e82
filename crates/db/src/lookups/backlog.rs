//! How many look-ups wait, and for how long.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// What waits for the provider of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupBacklog {
    /// The endpoint.
    pub source: String,
    /// Look-ups that wait or are being read.
    pub lookups: i64,
    /// Of them, those whose last read failed or brought nothing yet.
    pub failing: i64,
    /// When the oldest was asked for.
    pub oldest: Timestamp,
}

/// Counts the look-ups of each source that has any.
///
/// # Errors
/// When the database refuses or is away.
pub async fn backlog(client: &impl GenericClient) -> Result<Vec<LookupBacklog>> {
    let statement = client.prepare_cached(include_str!("backlog.sql")).await?;
    let rows = client.query(&statement, &[]).await?;
    let from_row = |row: &tokio_postgres::Row| LookupBacklog {
        source: row.get(0),
        lookups: row.get(1),
        failing: row.get(2),
        oldest: row.get(3),
    };
    Ok(rows.iter().map(from_row).collect())
}
