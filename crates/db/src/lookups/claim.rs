//! Takes look-ups under a lease: the read that follows begins after every event that waits for it has come.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Result;

/// A look-up that is ours until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedLookup {
    /// Its id.
    pub lookup_id: Uuid,
    /// Proof of the claim: ending the look-up takes it.
    pub lease_token: Uuid,
    /// Name of the profile's `[fetch.NAME]`; empty: its `[api.get]`.
    pub fetch: String,
    /// What the read is about.
    pub resource_id: String,
    /// When it was last asked for.
    pub asked_at: Timestamp,
    /// Reads begun, this one included.
    pub attempts: i32,
    /// The statuses that the waiting events expect at least, each once.
    pub expected: Vec<String>,
}

/// Takes look-ups of a source that are due, or whose lease ran out, until `lease_until`. One statement: nothing is
/// held while the provider is asked.
///
/// # Errors
/// When the database refuses or is away.
pub async fn claim(
    client: &impl GenericClient,
    source: &str,
    now: Timestamp,
    lease_until: Timestamp,
    limit: i64,
) -> Result<Vec<ClaimedLookup>> {
    let token = Uuid::new_v4();
    let statement = client.prepare_cached(include_str!("claim.sql")).await?;
    let rows = client.query(&statement, &[&source, &now, &limit, &token, &lease_until]).await?;
    Ok(rows.iter().map(|row| from_row(row, token)).collect())
}

fn from_row(row: &Row, lease_token: Uuid) -> ClaimedLookup {
    ClaimedLookup {
        lookup_id: row.get(0),
        lease_token,
        fetch: row.get(1),
        resource_id: row.get(2),
        asked_at: row.get(3),
        attempts: row.get(4),
        expected: row.get(5),
    }
}
