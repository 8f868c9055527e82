//! A read that brought nothing to go by: the look-up is open again, until it is due.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use tokio_postgres::error::SqlState;

use crate::{Error, Result, lookups::ClaimedLookup};

/// Gives the lease back: the look-up is due again at `due_at`, and events may join it. Needs to stand outside of a
/// transaction. Returns false when the lease was lost: then nothing happened.
///
/// # Errors
/// When the database refuses or is away.
pub async fn ask_again(
    client: &impl GenericClient,
    lookup: &ClaimedLookup,
    due_at: Timestamp,
    error: &str,
) -> Result<bool> {
    match give_back(client, lookup, due_at, error).await {
        // In this very moment an event opened another look-up of the same thing: now it can be seen.
        Err(Error::Refused(refused)) if refused.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            give_back(client, lookup, due_at, error).await
        }
        ended => ended,
    }
}

async fn give_back(
    client: &impl GenericClient,
    lookup: &ClaimedLookup,
    due_at: Timestamp,
    error: &str,
) -> Result<bool> {
    let statement = client.prepare_cached(include_str!("ask_again.sql")).await?;
    let row =
        client.query_one(&statement, &[&lookup.lookup_id, &lookup.lease_token, &due_at, &error]).await?;
    Ok(row.get::<_, i64>(0) == 1)
}
