//! Effects that were given up: found, and put back into the queue.

use deadpool_postgres::GenericClient;
use domain::ResourceId;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::{Result, resources::lane};

/// How an effect stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EffectState {
    /// Which effect.
    pub effect_id: Uuid,
    /// Whose it is.
    #[serde(flatten)]
    pub resource: ResourceId,
    /// Its name.
    pub effect: String,
    /// Where it goes.
    pub destination: String,
    /// `pending`, `delivered`, `dead` or `discarded`.
    pub state: String,
    /// Later effects of its resource that this destination already has: delivering this one now breaks the order.
    pub delivered_later: Vec<String>,
    /// Whether it is being delivered in this moment.
    pub is_in_flight: bool,
}

/// The oldest dead effects of a destination with ids from `from` on.
///
/// # Errors
/// When the database refuses or is away.
pub async fn dead_effects(
    client: &impl GenericClient,
    destination: &str,
    from: Uuid,
    limit: i64,
) -> Result<Vec<Uuid>> {
    let rows = client.query(include_str!("dead_effects.sql"), &[&destination, &from, &limit]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// How those of these effects stand that exist.
///
/// # Errors
/// When the database refuses or is away.
pub async fn effects_by_id(
    client: &impl GenericClient,
    effects: &[Uuid],
    now: Timestamp,
) -> Result<Vec<EffectState>> {
    let rows = client.query(include_str!("effects_by_id.sql"), &[&effects, &now]).await?;
    let state = |row: &tokio_postgres::Row| EffectState {
        effect_id: row.get(0),
        resource: ResourceId { source: row.get(1), kind: row.get(2), id: row.get(3) },
        effect: row.get(4),
        destination: row.get(5),
        state: row.get(6),
        delivered_later: row.get(7),
        is_in_flight: row.get::<_, Option<bool>>(8).unwrap_or(false),
    };
    Ok(rows.iter().map(state).collect())
}

/// Takes back the outcome of those of these effects that are dead or discarded, queues them in their old place
/// with attempts from 0, and hints the publishers. One statement; returns how many.
///
/// # Errors
/// When the database refuses or is away.
pub async fn requeue(client: &impl GenericClient, now: Timestamp, effects: &[EffectState]) -> Result<u64> {
    let ids: Vec<Uuid> = effects.iter().map(|effect| effect.effect_id).collect();
    let lanes: Vec<i64> = effects.iter().map(|effect| lane(&effect.resource)).collect();
    let row = client.query_one(include_str!("requeue.sql"), &[&ids, &lanes, &now]).await?;
    Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0))
}
