//! Saves the rows of a set of resources.

use std::collections::BTreeMap;

use deadpool_postgres::GenericClient;
use domain::{Resource, ResourceId};
use jiff::Timestamp;
use serde::Serialize;
use tokio_postgres::types::Json;

use crate::Result;

/// Writes the rows, whether they exist or not. The caller holds the resources' locks, so the last writer is
/// the only one.
///
/// # Errors
/// When the database refuses or is away.
pub async fn save(
    client: &impl GenericClient,
    now: Timestamp,
    resources: &[(&ResourceId, &Resource)],
) -> Result<()> {
    let ids = || resources.iter().map(|(id, _)| *id);
    let rows = || resources.iter().map(|(_, row)| *row);
    let sources: Vec<&str> = ids().map(|id| id.source.as_str()).collect();
    let kinds: Vec<&str> = ids().map(|id| id.kind.as_str()).collect();
    let names: Vec<&str> = ids().map(|id| id.id.as_str()).collect();
    let statuses: Vec<&str> = rows().map(|row| row.status.as_str()).collect();
    let majors: Vec<i64> = rows().map(|row| row.version.major).collect();
    let ranks: Vec<i16> = rows().map(|row| i16::from(row.version.rank)).collect();
    let histories: Vec<_> = rows().map(|row| Json(&row.history)).collect();
    let fields: Vec<_> = rows().map(|row| Json(values(row))).collect();
    let versions: Vec<_> = rows().map(|row| Json(versions(row))).collect();
    let effects: Vec<_> = rows().map(|row| Json(&row.effects_written)).collect();
    let next_effects: Vec<i32> = rows().map(|row| row.next_effect).collect();
    let statement = client.prepare_cached(include_str!("save.sql")).await?;
    client
        .execute(
            &statement,
            &[
                &sources,
                &kinds,
                &names,
                &statuses,
                &majors,
                &ranks,
                &histories,
                &fields,
                &versions,
                &effects,
                &next_effects,
                &now,
            ],
        )
        .await?;
    Ok(())
}

/// `{name: value}`: what people read.
pub(crate) fn values(row: &Resource) -> BTreeMap<&str, impl Serialize + std::fmt::Debug + '_> {
    row.fields.iter().map(|(name, field)| (name.as_str(), &field.value)).collect()
}

fn versions(row: &Resource) -> BTreeMap<&str, impl Serialize + std::fmt::Debug + '_> {
    row.fields.iter().map(|(name, field)| (name.as_str(), field.version)).collect()
}
