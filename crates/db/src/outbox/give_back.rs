//! Gives leases back that were never used.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Result, outbox::ClaimedEffect};

/// Lets others take these effects at once, as if they had not been claimed. Returns how many leases were still ours.
///
/// # Errors
/// When the database refuses or is away: then the leases end by themselves.
pub async fn give_back(
    client: &impl GenericClient,
    now: Timestamp,
    effects: &[ClaimedEffect],
) -> Result<u64> {
    let ids: Vec<Uuid> = effects.iter().map(|effect| effect.effect_id).collect();
    // Each token belongs to one claim of one effect, so the two lists need not be paired.
    let tokens: Vec<Uuid> = effects.iter().map(|effect| effect.lease_token).collect();
    let statement = client.prepare_cached(include_str!("give_back.sql")).await?;
    Ok(client.execute(&statement, &[&ids, &tokens, &now]).await?)
}
