//! The publishers that are alive: they share the limits of a destination among them.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use jiff::SignedDuration;
use uuid::Uuid;

use crate::Result;

/// One publisher's place among those that serve a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// How many stand before it.
    pub rank: u32,
    /// How many there are, itself included.
    pub of: u32,
}

/// Says that this publisher serves the destination, forgets those that have not said so for `expiry`, and counts the
/// others. By the database's clock: those of the publishers' machines may differ by more than the expiry.
///
/// # Errors
/// When the database refuses or is away.
pub async fn announce(
    client: &impl GenericClient,
    destination: &str,
    publisher_id: Uuid,
    expiry: Duration,
) -> Result<Place> {
    let statement = client.prepare_cached(include_str!("announce.sql")).await?;
    let expiry_s = SignedDuration::try_from(expiry).unwrap_or(SignedDuration::MAX).as_secs_f64();
    let row = client.query_one(&statement, &[&destination, &publisher_id, &expiry_s]).await?;
    let count = |at: usize| u32::try_from(row.get::<_, i64>(at)).unwrap_or(u32::MAX);
    Ok(Place { rank: count(0), of: count(1) + 1 })
}

/// Says that this publisher serves the destination no more: the others need not wait for the expiry.
///
/// # Errors
/// When the database refuses or is away.
pub async fn leave(client: &impl GenericClient, destination: &str, publisher_id: Uuid) -> Result<()> {
    let statement = client.prepare_cached(include_str!("leave.sql")).await?;
    client.execute(&statement, &[&destination, &publisher_id]).await?;
    Ok(())
}
