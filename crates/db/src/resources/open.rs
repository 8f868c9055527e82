//! Which resources something is still to come from.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// Which resources are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Open<'a> {
    /// Their source.
    pub source: &'a str,
    /// Their kind.
    pub kind: &'a str,
    /// Their status is one of these.
    pub statuses: &'a [String],
    /// They were first seen then or later.
    pub since: Timestamp,
}

/// At most `limit` ids of such resources, in order, from after the id `after` on; the empty text for the first.
///
/// # Errors
/// When the database refuses or is away.
pub async fn open(
    client: &impl GenericClient,
    open: &Open<'_>,
    after: &str,
    limit: i64,
) -> Result<Vec<String>> {
    let statement = client.prepare_cached(include_str!("open.sql")).await?;
    let Open { source, kind, statuses, since } = open;
    let rows = client.query(&statement, &[source, kind, statuses, since, &limit, &after]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
