//! What effects failed with, by cause: a thousand effects that met one broken deploy are one thing to look at.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::{Result, operations::made_at};

/// Effects of one destination that failed for one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureGroup {
    /// Its name: eight hexadecimal digits made of the destination and the cause without ids, numbers and times.
    pub group: String,
    /// Where they go.
    pub destination: String,
    /// `dead`, or `retrying` while they are tried again.
    pub state: String,
    /// How many.
    pub effects: i64,
    /// When the first of them was written.
    pub first_at: Option<Timestamp>,
    /// When the last of them was written.
    pub last_at: Option<Timestamp>,
    /// What most of them say.
    pub sample: Option<String>,
}

/// The groups of effects with ids from `from` on, to this destination if given: the largest first, at most `limit`.
///
/// # Errors
/// When the database refuses or is away.
pub async fn failure_groups(
    client: &impl GenericClient,
    from: Uuid,
    destination: Option<&str>,
    limit: i64,
) -> Result<Vec<FailureGroup>> {
    let rows = client.query(include_str!("failure_groups.sql"), &[&from, &destination, &limit]).await?;
    let group = |row: &tokio_postgres::Row| FailureGroup {
        group: row.get(0),
        destination: row.get(1),
        state: row.get(2),
        effects: row.get(3),
        first_at: row.get::<_, Option<Uuid>>(4).and_then(made_at),
        last_at: row.get::<_, Option<Uuid>>(5).and_then(made_at),
        sample: row.get(6),
    };
    Ok(rows.iter().map(group).collect())
}
