//! Takes events out of the queue, in the claimer's transaction: if it fails they are back.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{Result, inbox::Origin};

/// An event that is ours until the transaction ends.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Its id; ids grow with the time of arrival.
    pub event_id: Uuid,
    /// The endpoint it came by.
    pub source: String,
    /// Its key, if it has one.
    pub dedup_key: Option<String>,
    /// The provider's name for the event, as the receiver read it.
    pub event_type: Option<String>,
    /// How it came.
    pub origin: Origin,
    /// When it came.
    pub received_at: Timestamp,
    /// The headers kept beside the body, as a JSON object.
    pub headers: Option<String>,
    /// The bytes as received.
    pub body: Vec<u8>,
    /// Attempts that failed so far.
    pub attempts: i32,
    /// What the provider said when it was asked for this event's sake.
    pub answer: Option<Answer>,
}

/// What a look-up brought, as the inbox keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The answer's bytes as received.
    Body(Vec<u8>),
    /// There is nothing, for this reason.
    Nothing(String),
}

/// How much one claim takes at most.
#[derive(Debug, Clone, Copy)]
pub struct ClaimLimit {
    /// Events.
    pub events: i64,
    /// Bytes of their bodies; the first event is taken whatever its size.
    pub bytes: i64,
}

/// Takes queued events with ids above `mark`, oldest first, up to the limit; needs a transaction.
///
/// The mark spares the scan over rows that are gone but not yet cleaned up. It is a hint: rows can become
/// visible below it, so claim from the nil id now and then.
///
/// # Errors
/// When the database refuses or is away.
pub async fn claim(client: &impl GenericClient, mark: Uuid, limit: ClaimLimit) -> Result<Vec<Claimed>> {
    let statement = client.prepare_cached(include_str!("claim.sql")).await?;
    let rows = client.query(&statement, &[&mark, &limit.events, &limit.bytes]).await?;
    Ok(sorted(&rows, |_| None))
}

/// Takes events whose next attempt is due, up to the limit; needs a transaction.
///
/// # Errors
/// When the database refuses or is away.
pub async fn claim_due_retries(
    client: &impl GenericClient,
    now: Timestamp,
    limit: ClaimLimit,
) -> Result<Vec<Claimed>> {
    let statement = client.prepare_cached(include_str!("claim_due_retries.sql")).await?;
    let rows = client.query(&statement, &[&now, &limit.events, &limit.bytes]).await?;
    Ok(sorted(&rows, answer))
}

/// Takes those of the events that still wait anywhere, due or not; needs a transaction.
///
/// # Errors
/// When the database refuses or is away.
pub async fn claim_these(client: &impl GenericClient, event_ids: &[Uuid]) -> Result<Vec<Claimed>> {
    let statement = client.prepare_cached(include_str!("claim_these.sql")).await?;
    let rows = client.query(&statement, &[&event_ids]).await?;
    Ok(sorted(&rows, answer))
}

fn sorted(rows: &[Row], answer: impl Fn(&Row) -> Option<Answer>) -> Vec<Claimed> {
    let mut claimed: Vec<Claimed> = rows.iter().map(|row| from_row(row, answer(row))).collect();
    claimed.sort_by_key(|event| event.event_id);
    claimed
}

/// The hot queue knows no answers: an event that has one waits among the retries.
fn answer(row: &Row) -> Option<Answer> {
    let is_answered: bool = row.get(9);
    let body: Option<Vec<u8>> = row.get(10);
    let reason: Option<String> = row.get(11);
    is_answered.then(|| match body {
        Some(body) => Answer::Body(body),
        None => Answer::Nothing(reason.unwrap_or_default()),
    })
}

fn from_row(row: &Row, answer: Option<Answer>) -> Claimed {
    Claimed {
        event_id: row.get(0),
        attempts: row.get(1),
        source: row.get(2),
        dedup_key: row.get(3),
        event_type: row.get(4),
        // The table's check allows no other word.
        origin: Origin::parse(row.get(5)).unwrap_or(Origin::Webhook),
        received_at: row.get(6),
        headers: row.get(7),
        body: row.get(8),
        answer,
    }
}
