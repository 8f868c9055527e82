//! A sample of requests whose signature was refused, so that a wrong secret can be seen.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Result;

/// A request that was answered with the refusal status.
#[derive(Debug, Clone)]
pub struct RefusedRequest<'a> {
    /// Its id, from [`crate::ids::new_id`].
    pub refusal_id: Uuid,
    /// The endpoint it came to.
    pub source: &'a str,
    /// When.
    pub refused_at: Timestamp,
    /// Why: a word from a bounded set.
    pub reason: &'a str,
    /// The headers kept, as a JSON object.
    pub headers: &'a str,
    /// The body, cut by the caller.
    pub body: &'a [u8],
    /// The body's real size.
    pub body_bytes: i64,
}

/// Keeps the request and forgets all but the newest `keep` of its source.
///
/// # Errors
/// When the database refuses or is away.
pub async fn record_refused(
    client: &impl GenericClient,
    request: &RefusedRequest<'_>,
    keep: i64,
) -> Result<()> {
    let statement = client.prepare_cached(include_str!("record_refused.sql")).await?;
    client
        .execute(
            &statement,
            &[
                &request.refusal_id,
                &request.source,
                &request.refused_at,
                &request.reason,
                &request.headers,
                &request.body,
                &request.body_bytes,
                &keep,
            ],
        )
        .await?;
    Ok(())
}
