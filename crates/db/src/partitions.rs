//! Keeps the weekly partitions: makes those ahead, drops those whose time is over.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// What one round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Partitions made.
    pub made: i32,
    /// Partitions dropped, with all that was in them.
    pub dropped: i32,
}

/// Makes the partitions around `now` and drops those that ended more than `retention` ago and hold nothing
/// that still waits. Does nothing while another process is at it.
///
/// # Errors
/// When the database refuses or is away.
pub async fn keep(client: &impl GenericClient, now: Timestamp, retention: Duration) -> Result<Kept> {
    let row = client.query_one(include_str!("partitions.sql"), &[&now, &seconds(retention)]).await?;
    Ok(Kept { made: row.get(0), dropped: row.get(1) })
}

/// A retention as the server takes it: instants that far back must still be instants.
pub(crate) fn seconds(retention: Duration) -> f64 {
    retention.as_secs_f64().min(100.0 * 366.0 * 86_400.0)
}
