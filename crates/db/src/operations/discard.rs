//! Takes effects out for good.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Result, operations::EffectState, resources::lane};

/// Discards those of these effects that are dead, or pending and not being delivered in this moment, and lets the
/// next of each lane go. Two statements, as in [`crate::outbox`]; returns the effects that were discarded.
///
/// # Errors
/// When the database refuses or is away.
pub async fn discard(
    client: &impl GenericClient,
    now: Timestamp,
    effects: &[EffectState],
    reason: &str,
) -> Result<Vec<Uuid>> {
    let ids: Vec<Uuid> = effects.iter().map(|effect| effect.effect_id).collect();
    let destinations: Vec<&str> = effects.iter().map(|effect| effect.destination.as_str()).collect();
    let lanes: Vec<i64> = effects.iter().map(|effect| lane(&effect.resource)).collect();
    let discarded = client.query(include_str!("discard.sql"), &[&ids, &reason, &now]).await?;
    client.execute(include_str!("wake_behind.sql"), &[&destinations, &lanes, &now]).await?;
    Ok(discarded.iter().map(|row| row.get(0)).collect())
}
