//! The end of a look-up: its answer goes to the events that wait, and they go back to the applier.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Result, lookups::ClaimedLookup};

/// What a look-up ended in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered<'a> {
    /// The provider's answer, as received.
    Body(&'a [u8]),
    /// There is nothing, for this reason.
    Nothing(&'a str),
}

/// Ends the look-up and gives its answer to every event that waits for it. One statement. `None` when the lease was
/// lost: then nothing happened; else how many events got it.
///
/// # Errors
/// When the database refuses or is away.
pub async fn answer(
    client: &impl GenericClient,
    lookup: &ClaimedLookup,
    now: Timestamp,
    answered: Answered<'_>,
) -> Result<Option<u64>> {
    let (body, reason) = match answered {
        Answered::Body(body) => (Some(body), None),
        Answered::Nothing(reason) => (None, Some(reason)),
    };
    let statement = client.prepare_cached(include_str!("answer.sql")).await?;
    let row =
        client.query_one(&statement, &[&lookup.lookup_id, &lookup.lease_token, &now, &body, &reason]).await?;
    let freed = u64::try_from(row.get::<_, i64>(1)).unwrap_or(0);
    Ok((row.get::<_, i64>(0) == 1).then_some(freed))
}

/// Deletes the answers of events that are done.
///
/// # Errors
/// When the database refuses or is away.
pub async fn forget_answers(client: &impl GenericClient, event_ids: &[Uuid]) -> Result<()> {
    let statement = client.prepare_cached(include_str!("forget_answers.sql")).await?;
    client.execute(&statement, &[&event_ids]).await?;
    Ok(())
}
