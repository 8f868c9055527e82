//! Loads the rows of a set of resources.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use deadpool_postgres::GenericClient;
use domain::{Field, Resource, ResourceId, Value, Version};
use tokio_postgres::{Row, types::Json};

use crate::{
    Error, Result,
    resources::{lane, lock_numbers},
};

/// Locks the resources until the transaction ends, then loads those that exist; needs a transaction.
///
/// Both statements travel together, but the load runs after the lock is held and sees what the previous
/// holder committed: under READ COMMITTED each statement takes its own snapshot.
///
/// # Errors
/// When the database refuses or is away.
pub async fn load_locked(
    client: &impl GenericClient,
    resources: &[ResourceId],
) -> Result<HashMap<ResourceId, Resource>> {
    let lock = client.prepare_cached(include_str!("lock.sql")).await?;
    let numbers = lock_numbers(resources);
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&numbers];
    let (locked, loaded) =
        futures_util::future::join(client.execute(&lock, &parameters), load(client, resources)).await;
    locked?;
    loaded
}

/// Locks those of the resources that nobody else holds, without waiting, then loads those that exist of them; needs a
/// transaction. Returns the rows and the resources that somebody else holds.
///
/// # Errors
/// When the database refuses or is away.
pub async fn load_lockable(
    client: &impl GenericClient,
    resources: &[ResourceId],
) -> Result<(HashMap<ResourceId, Resource>, HashSet<ResourceId>)> {
    let statement = client.prepare_cached(include_str!("try_lock.sql")).await?;
    let rows = client.query(&statement, &[&lock_numbers(resources)]).await?;
    let held: HashSet<i64> = rows.iter().filter(|row| !row.get::<_, bool>(1)).map(|row| row.get(0)).collect();
    let (held, ours): (Vec<_>, Vec<_>) =
        resources.iter().cloned().partition(|resource| held.contains(&lane(resource)));
    Ok((load(client, &ours).await?, held.into_iter().collect()))
}

/// Loads those of the resources that exist.
///
/// # Errors
/// When the database refuses or is away.
pub async fn load(
    client: &impl GenericClient,
    resources: &[ResourceId],
) -> Result<HashMap<ResourceId, Resource>> {
    let statement = client.prepare_cached(include_str!("load.sql")).await?;
    let sources: Vec<&str> = resources.iter().map(|resource| resource.source.as_str()).collect();
    let kinds: Vec<&str> = resources.iter().map(|resource| resource.kind.as_str()).collect();
    let ids: Vec<&str> = resources.iter().map(|resource| resource.id.as_str()).collect();
    let rows = client.query(&statement, &[&sources, &kinds, &ids]).await?;
    rows.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<(ResourceId, Resource)> {
    let id = ResourceId { source: row.get(0), kind: row.get(1), id: row.get(2) };
    let rank: i16 = row.get(5);
    let Json(values): Json<BTreeMap<String, Value>> = row.try_get(7)?;
    let Json(mut versions): Json<BTreeMap<String, Version>> = row.try_get(8)?;
    let mut fields = BTreeMap::new();
    for (name, value) in values {
        let version = versions.remove(&name).ok_or_else(|| {
            Error::Schema(format!(
                "row of {id} is damaged: field_versions lacks \"{name}\", which fields has"
            ))
        })?;
        fields.insert(name, Field { value, version });
    }
    let Json(effects_written): Json<BTreeSet<String>> = row.try_get(9)?;
    let resource = Resource {
        status: row.get(3),
        version: Version::new(row.get(4), u8::try_from(rank).unwrap_or(0)),
        history: row.try_get::<_, Json<_>>(6)?.0,
        fields,
        effects_written,
        next_effect: row.get(10),
    };
    Ok((id, resource))
}
