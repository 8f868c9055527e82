//! Asks for look-ups, in the transaction that takes their events out of the queue.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{Result, ids::new_id_in_order};

/// What is to be asked, and who waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The endpoint whose provider is asked.
    pub source: &'a str,
    /// Name of the profile's `[fetch.NAME]`; empty: its `[api.get]`.
    pub fetch: &'a str,
    /// What the read is about.
    pub resource_id: &'a str,
    /// Not before this instant.
    pub due_at: Timestamp,
    /// The event that waits for the answer; `None`: nobody waits, the answer enters the inbox by itself.
    pub event_id: Option<Uuid>,
    /// The status that the provider must at least have reached.
    pub expect: Option<&'a str>,
}

/// Lets the events wait for one read of each thing. A read that has begun may be older than the event: it is not
/// joined. The events must have been taken out of the queue in this transaction.
///
/// # Errors
/// When the database refuses or is away.
pub async fn ask(client: &impl GenericClient, now: Timestamp, asks: &[Ask<'_>]) -> Result<()> {
    let lookup_ids: Vec<Uuid> = (0..asks.len()).map(|at| new_id_in_order(now, at)).collect();
    let sources: Vec<&str> = asks.iter().map(|ask| ask.source).collect();
    let fetches: Vec<&str> = asks.iter().map(|ask| ask.fetch).collect();
    let resource_ids: Vec<&str> = asks.iter().map(|ask| ask.resource_id).collect();
    let due_at: Vec<Timestamp> = asks.iter().map(|ask| ask.due_at).collect();
    let event_ids: Vec<Option<Uuid>> = asks.iter().map(|ask| ask.event_id).collect();
    let expected: Vec<Option<&str>> = asks.iter().map(|ask| ask.expect).collect();
    let statement = client.prepare_cached(include_str!("ask.sql")).await?;
    client
        .execute(
            &statement,
            &[&lookup_ids, &sources, &fetches, &resource_ids, &due_at, &event_ids, &expected, &now],
        )
        .await?;
    Ok(())
}
