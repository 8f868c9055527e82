//! Effects that were given up go back into the queue.

use deadpool_postgres::{Client, GenericClient};
use domain::ResourceId;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    Result,
    resources::{lane, lock_numbers},
};

/// An applier holds a resource for one transaction: whoever waits longer tries again.
const WAIT: &str = "set local lock_timeout = '5s'";

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
    /// Later ones that are being delivered in this moment.
    pub in_flight_later: Vec<String>,
    /// Whether it is being delivered in this moment.
    pub is_in_flight: bool,
    /// Why the last attempt failed, or why it was discarded.
    pub last_error: Option<String>,
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
        in_flight_later: row.get(8),
        is_in_flight: row.get::<_, Option<bool>>(9).unwrap_or(false),
        last_error: row.get(10),
    };
    Ok(rows.iter().map(state).collect())
}

/// Takes back the outcome of those of these effects that are dead or discarded, queues them in their old place
/// with attempts from 0, and hints the publishers. Unless `out_of_order`, those stay as they are whose destination
/// has a later effect of their resource or is getting one. Returns the effects that were queued.
///
/// One transaction. It holds the resources, so that no applier adds an effect behind these, and what stands behind
/// them in the queue, so that no publisher takes it meanwhile: hand in a few hundred at most.
///
/// # Errors
/// When the database refuses or is away; [`crate::Error::Retry`] when a resource was not to be had for 5 seconds.
pub async fn requeue(
    client: &mut Client,
    now: Timestamp,
    effects: &[EffectState],
    out_of_order: bool,
) -> Result<Vec<Uuid>> {
    let ids: Vec<Uuid> = effects.iter().map(|effect| effect.effect_id).collect();
    let lanes: Vec<i64> = effects.iter().map(|effect| lane(&effect.resource)).collect();
    let numbers = lock_numbers(effects.iter().map(|effect| &effect.resource));
    let transaction = client.transaction().await?;
    transaction.batch_execute(WAIT).await?;
    transaction.query(include_str!("../resources/lock.sql"), &[&numbers]).await?;
    let held = transaction.query(include_str!("hold_followers.sql"), &[&ids, &lanes]).await?;
    let held: Vec<Uuid> = held.iter().map(|row| row.get(0)).collect();
    // A statement of its own: what came and went before the locks were had is seen only from here on.
    let queued =
        transaction.query(include_str!("requeue.sql"), &[&ids, &lanes, &now, &held, &out_of_order]).await?;
    transaction.commit().await?;
    Ok(queued.iter().map(|row| row.get(0)).collect())
}
