//! Lets an effect and what undoes it fall away together while neither was sent.

use std::collections::{BTreeMap, HashSet};

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    Result,
    outbox::{EffectToWrite, wake_next},
};

/// What the reason of a discarded effect has when it fell away with the one that undoes it, or undid it.
pub const PAIR_REASONS: [&str; 2] = [" came before it was sent: neither is sent", "nothing to undo: "];

/// Of the effects just written, discards those that undo one that was never sent, and that one with it, and lets go what
/// stood behind; in the transaction that wrote them. Returns the effects that undo.
///
/// # Errors
/// When the database refuses or is away.
pub async fn cancel_pairs(
    client: &impl GenericClient,
    now: Timestamp,
    effects: &[EffectToWrite<'_>],
) -> Result<HashSet<Uuid>> {
    let undoing: Vec<(&EffectToWrite<'_>, &str)> =
        effects.iter().filter_map(|effect| Some((effect, effect.effect.cancels.as_deref()?))).collect();
    if undoing.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: Vec<Uuid> = undoing.iter().map(|(effect, _)| effect.effect_id).collect();
    let names: Vec<&str> = undoing.iter().map(|(effect, _)| effect.effect.name.as_str()).collect();
    let sources: Vec<&str> = undoing.iter().map(|(effect, _)| effect.resource_id.source.as_str()).collect();
    let kinds: Vec<&str> = undoing.iter().map(|(effect, _)| effect.resource_id.kind.as_str()).collect();
    let resource_ids: Vec<&str> = undoing.iter().map(|(effect, _)| effect.resource_id.id.as_str()).collect();
    let undone: Vec<&str> = undoing.iter().map(|(_, undone)| *undone).collect();
    let statement = client.prepare_cached(include_str!("cancel_pairs.sql")).await?;
    let rows =
        client.query(&statement, &[&ids, &names, &sources, &kinds, &resource_ids, &undone, &now]).await?;
    let canceled: BTreeMap<Uuid, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut lanes: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (effect, _) in undoing {
        if let Some(lane) = canceled.get(&effect.effect_id) {
            lanes.entry(&effect.effect.destination).or_default().push(*lane);
        }
    }
    for (destination, lanes) in lanes {
        wake_next(client, destination, now, &lanes).await?;
    }
    Ok(canceled.into_keys().collect())
}
