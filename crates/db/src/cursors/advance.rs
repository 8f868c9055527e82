//! Moves a cursor.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::Result;

/// Moves the cursor forward to `value`, or leaves it where it is when that is further; returns where it is now.
///
/// Belongs into the transaction that stores what lies before it. What is finer than a microsecond is cut, never
/// rounded up.
///
/// # Errors
/// When the database refuses or is away.
pub async fn advance(
    client: &impl GenericClient,
    source: &str,
    name: &str,
    value: Timestamp,
    now: Timestamp,
) -> Result<Timestamp> {
    let statement = client.prepare_cached(include_str!("advance.sql")).await?;
    let row = client.query_one(&statement, &[&source, &name, &whole_microseconds(value), &now]).await?;
    Ok(row.get(0))
}

fn whole_microseconds(instant: Timestamp) -> Timestamp {
    let microseconds = instant.as_nanosecond().div_euclid(1_000);
    i64::try_from(microseconds)
        .ok()
        .and_then(|microseconds| Timestamp::from_microsecond(microseconds).ok())
        .unwrap_or(instant)
}
