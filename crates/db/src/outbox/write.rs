//! Writes effects in the transaction that changed the row.

use std::collections::HashSet;

use deadpool_postgres::GenericClient;
use domain::{NewEffect, Resource, ResourceId};
use jiff::Timestamp;
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::{Result, resources};

/// An effect with the row as it was when the effect was born.
#[derive(Debug, Clone)]
pub struct EffectToWrite<'a> {
    /// Its id, from [`crate::ids::new_id`].
    pub effect_id: Uuid,
    /// Whose effect it is.
    pub resource_id: &'a ResourceId,
    /// What `decide` said.
    pub effect: NewEffect,
    /// The event whose fact made it due.
    pub event_id: Uuid,
    /// The row right after that fact.
    pub snapshot: Resource,
    /// Whether it is done in this transaction: then it is never queued, and delivered with the commit.
    pub in_transaction: bool,
}

/// What [`write`] wrote.
#[derive(Debug, Default)]
pub struct WrittenEffects {
    /// How many were new.
    pub written: u64,
    /// Those of them that are to be done in this transaction, now.
    pub in_transaction: HashSet<Uuid>,
}

/// Writes those effects whose (resource, effect, key) is new, queues them unless they are done in this transaction, and
/// hints the publishers; needs the transaction that saves the rows.
///
/// # Errors
/// When the database refuses or is away.
pub async fn write(
    client: &impl GenericClient,
    now: Timestamp,
    effects: &[EffectToWrite<'_>],
) -> Result<WrittenEffects> {
    let ids: Vec<Uuid> = effects.iter().map(|effect| effect.effect_id).collect();
    let sources: Vec<&str> = effects.iter().map(|effect| effect.resource_id.source.as_str()).collect();
    let kinds: Vec<&str> = effects.iter().map(|effect| effect.resource_id.kind.as_str()).collect();
    let resource_ids: Vec<&str> = effects.iter().map(|effect| effect.resource_id.id.as_str()).collect();
    let names: Vec<&str> = effects.iter().map(|effect| effect.effect.name.as_str()).collect();
    let keys: Vec<&str> = effects.iter().map(|effect| effect.effect.key.as_str()).collect();
    let destinations: Vec<&str> = effects.iter().map(|effect| effect.effect.destination.as_str()).collect();
    let sequences: Vec<i32> = effects.iter().map(|effect| effect.effect.sequence).collect();
    let lanes: Vec<i64> = effects.iter().map(|effect| resources::lane(effect.resource_id)).collect();
    let events: Vec<Uuid> = effects.iter().map(|effect| effect.event_id).collect();
    let statuses: Vec<&str> = effects.iter().map(|effect| effect.snapshot.status.as_str()).collect();
    let majors: Vec<i64> = effects.iter().map(|effect| effect.snapshot.version.major).collect();
    let ranks: Vec<i16> = effects.iter().map(|effect| i16::from(effect.snapshot.version.rank)).collect();
    let fields: Vec<_> = effects.iter().map(|effect| Json(resources::values(&effect.snapshot))).collect();
    let in_transaction: Vec<bool> = effects.iter().map(|effect| effect.in_transaction).collect();
    let statement = client.prepare_cached(include_str!("write.sql")).await?;
    let row = client
        .query_one(
            &statement,
            &[
                &ids,
                &sources,
                &kinds,
                &resource_ids,
                &names,
                &keys,
                &destinations,
                &sequences,
                &lanes,
                &events,
                &statuses,
                &majors,
                &ranks,
                &fields,
                &now,
                &in_transaction,
            ],
        )
        .await?;
    Ok(WrittenEffects {
        written: u64::try_from(row.get::<_, i64>(0)).unwrap_or(0),
        in_transaction: row.get::<_, Vec<Uuid>>(1).into_iter().collect(),
    })
}
