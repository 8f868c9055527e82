//! Reads a cursor.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// How far this list of the source has been read; `None` before its first page was stored.
///
/// # Errors
/// When the database refuses or is away.
pub async fn read(client: &impl GenericClient, source: &str, name: &str) -> Result<Option<Timestamp>> {
    let statement = client.prepare_cached(include_str!("read.sql")).await?;
    let row = client.query_opt(&statement, &[&source, &name]).await?;
    Ok(row.map(|row| row.get(0)))
}
