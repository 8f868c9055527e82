//! Events that failed wait here for their next attempt, away from the hot queue.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Result;

/// An event whose attempt failed.
#[derive(Debug, Clone)]
pub struct Failed {
    /// Which event.
    pub event_id: Uuid,
    /// Attempts that failed so far, this one included.
    pub attempts: i32,
    /// When to try again.
    pub due_at: Timestamp,
    /// Why it failed.
    pub error: String,
}

/// Takes a failed event out of wherever it waits and lets it wait until it is due; needs a transaction.
/// Returns false when another process took the event meanwhile: then nothing is to be done.
///
/// # Errors
/// When the database refuses or is away.
pub async fn postpone(client: &impl GenericClient, failed: &Failed) -> Result<bool> {
    let statement = client.prepare_cached(include_str!("postpone.sql")).await?;
    let moved = client
        .execute(&statement, &[&failed.event_id, &failed.due_at, &failed.attempts, &failed.error])
        .await?;
    Ok(moved == 1)
}
