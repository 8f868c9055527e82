//! Holds a destination, and lets it go on.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// A destination that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paused {
    /// Since when.
    pub paused_at: Timestamp,
    /// Why.
    pub reason: Option<String>,
}

/// Holds a destination; one that is held already keeps its instant.
///
/// # Errors
/// When the database refuses or is away.
pub async fn pause(
    client: &impl GenericClient,
    now: Timestamp,
    destination: &str,
    reason: Option<&str>,
) -> Result<Paused> {
    let row = client.query_one(include_str!("pause.sql"), &[&destination, &now, &reason]).await?;
    Ok(Paused { paused_at: row.get(0), reason: row.get(1) })
}

/// Lets a destination go on and hints the publishers; returns since when it was held, if it was.
///
/// # Errors
/// When the database refuses or is away.
pub async fn resume(client: &impl GenericClient, destination: &str) -> Result<Option<Timestamp>> {
    let row = client.query_opt(include_str!("resume.sql"), &[&destination]).await?;
    Ok(row.map(|row| row.get(0)))
}
