//! Samples of refused requests with their bytes, to verify them again.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Result;

/// A refused request as the receiver kept it.
#[derive(Debug, Clone)]
pub struct RefusedSample {
    /// Its id.
    pub refusal_id: Uuid,
    /// The endpoint it came to.
    pub source: String,
    /// When it came.
    pub refused_at: Timestamp,
    /// Why it was refused.
    pub reason: String,
    /// The headers kept, as a JSON object.
    pub headers: String,
    /// What was kept of the body.
    pub body: Vec<u8>,
    /// The body's real size.
    pub body_bytes: i64,
}

/// The oldest samples after `after` with ids from `from` on, of this source if given.
///
/// # Errors
/// When the database refuses or is away.
pub async fn refused_samples(
    client: &impl GenericClient,
    after: Uuid,
    from: Uuid,
    source: Option<&str>,
    limit: i64,
) -> Result<Vec<RefusedSample>> {
    let rows = client.query(include_str!("refused_samples.sql"), &[&after, &from, &source, &limit]).await?;
    let sample = |row: &tokio_postgres::Row| RefusedSample {
        refusal_id: row.get(0),
        source: row.get(1),
        refused_at: row.get(2),
        reason: row.get(3),
        headers: row.get(4),
        body: row.get(5),
        body_bytes: row.get(6),
    };
    Ok(rows.iter().map(sample).collect())
}

/// Deletes these samples; in the transaction that stores what was in them.
///
/// # Errors
/// When the database refuses or is away.
pub async fn forget_refused(client: &impl GenericClient, samples: &[Uuid]) -> Result<u64> {
    Ok(client.execute(include_str!("forget_refused.sql"), &[&samples]).await?)
}
