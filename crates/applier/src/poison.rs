//! Finds the event that makes a transaction fail: halves, until it stands alone.
//!
//! Its neighbours are applied on the way. Alone, it gets one attempt more, its error and a later turn; after the
//! last attempt it is `dead`, visible and replayable.

use db::Client;
use uuid::Uuid;

use crate::batch::{Applying, Locks, Undone, Wanted};

/// Applies the events of a transaction that failed, one half after the other.
///
/// # Errors
/// When the database is away: everything not yet applied is still where it was.
pub(crate) async fn isolate(applying: &Applying, client: &Client, undone: Undone) -> db::Result<()> {
    tracing::warn!(error = %undone.error, events = undone.event_ids.len(), "batch failed, looking for the event that fails");
    let mut parts = vec![(undone.event_ids, undone.error)];
    while let Some((mut event_ids, error)) = parts.pop() {
        if error.is_unavailable() {
            return Err(error);
        }
        if let [alone] = event_ids[..] {
            applying.fail(client, alone, &error.to_string()).await?;
            continue;
        }
        let second = event_ids.split_off(event_ids.len() / 2);
        for half in [event_ids, second] {
            if let Err(failed) = apply_half(applying, client, half).await {
                parts.push(failed);
            }
        }
    }
    Ok(())
}

async fn apply_half(
    applying: &Applying,
    client: &Client,
    half: Vec<Uuid>,
) -> Result<(), (Vec<Uuid>, db::Error)> {
    if half.is_empty() {
        return Ok(());
    }
    match applying.transact(client, &Wanted::These(half.clone()), Locks::Skip).await {
        Ok(_) => Ok(()),
        Err(undone) => Err((half, undone.error)),
    }
}
