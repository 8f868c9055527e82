//! Puts events into the inbox: key, event and queue row in one statement, so one commit.

use deadpool_postgres::GenericClient;
use domain::Origin;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio_postgres::{Row, Statement, types::ToSql};
use uuid::Uuid;

use crate::Result;

/// An event to be stored.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    /// Its id, from [`crate::ids::new_id`].
    pub event_id: Uuid,
    /// The configured endpoint it belongs to.
    pub source: &'a str,
    /// What makes it the same as another; `None`: every delivery is new.
    pub dedup_key: Option<&'a str>,
    /// What [`body_hash`] says of the body.
    pub body_hash: i64,
    /// The provider's name for the event, where it could be read.
    pub event_type: Option<&'a str>,
    /// Kind of the resource, where it could be read.
    pub kind: Option<&'a str>,
    /// The resource's id, where it could be read.
    pub resource_id: Option<&'a str>,
    /// How it came.
    pub origin: Origin,
    /// When it came.
    pub received_at: Timestamp,
    /// The headers kept beside the body, as a JSON object.
    pub headers: Option<&'a str>,
    /// The bytes as received.
    pub body: &'a [u8],
}

/// An event whose key was already taken: it was not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The id it would have had.
    pub event_id: Uuid,
    /// Whether the stored body differs; `None` when the key was taken in this very moment, or its body is not comparable.
    pub body_differs: Option<bool>,
}

/// In place of a [`body_hash`]: this body is written otherwise than the provider sends it, so none is compared with it.
pub const NOT_COMPARABLE: i64 = 0;

/// The first eight bytes of the body's SHA-256: tells a repetition from another body under the same key.
pub fn body_hash(body: &[u8]) -> i64 {
    let digest = Sha256::digest(body);
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}

/// The statement of [`store`], for callers that prepare it once per connection.
pub const STORE: &str = include_str!("store.sql");

/// Stores the events whose key is new and queues them for the applier; returns the others.
///
/// The events must be sorted by (source, key), the same in all processes, or two batches with common keys
/// deadlock; and no key may stand twice, or the statement stores the event's first and reports the other.
///
/// # Errors
/// When the database refuses one of them (then none is stored) or is away.
pub async fn store(client: &impl GenericClient, events: &[NewEvent<'_>]) -> Result<Vec<Duplicate>> {
    let statement = client.prepare_cached(STORE).await?;
    let columns = Columns::of(events);
    let rows = client.query(&statement, &columns.parameters()).await?;
    Ok(rows.iter().map(duplicate).collect())
}

/// [`store`] on a bare connection with the statement [`STORE`] prepared on it.
///
/// # Errors
/// As [`store`].
pub async fn store_with(
    client: &tokio_postgres::Client,
    statement: &Statement,
    events: &[NewEvent<'_>],
) -> Result<Vec<Duplicate>> {
    let columns = Columns::of(events);
    let rows = client.query(statement, &columns.parameters()).await?;
    Ok(rows.iter().map(duplicate).collect())
}

fn duplicate(row: &Row) -> Duplicate {
    Duplicate { event_id: row.get(0), body_differs: row.get(1) }
}

/// The events turned by 90 degrees: one array a column.
struct Columns<'a> {
    event_ids: Vec<Uuid>,
    sources: Vec<&'a str>,
    dedup_keys: Vec<Option<&'a str>>,
    body_hashes: Vec<i64>,
    event_types: Vec<Option<&'a str>>,
    kinds: Vec<Option<&'a str>>,
    resource_ids: Vec<Option<&'a str>>,
    origins: Vec<&'static str>,
    received_at: Vec<Timestamp>,
    headers: Vec<Option<&'a str>>,
    bodies: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn of(events: &[NewEvent<'a>]) -> Self {
        Self {
            event_ids: events.iter().map(|event| event.event_id).collect(),
            sources: events.iter().map(|event| event.source).collect(),
            dedup_keys: events.iter().map(|event| event.dedup_key).collect(),
            body_hashes: events.iter().map(|event| event.body_hash).collect(),
            event_types: events.iter().map(|event| event.event_type).collect(),
            kinds: events.iter().map(|event| event.kind).collect(),
            resource_ids: events.iter().map(|event| event.resource_id).collect(),
            origins: events.iter().map(|event| event.origin.as_str()).collect(),
            received_at: events.iter().map(|event| event.received_at).collect(),
            headers: events.iter().map(|event| event.headers).collect(),
            bodies: events.iter().map(|event| event.body).collect(),
        }
    }

    fn parameters(&self) -> [&(dyn ToSql + Sync); 11] {
        [
            &self.event_ids,
            &self.sources,
            &self.dedup_keys,
            &self.body_hashes,
            &self.event_types,
            &self.kinds,
            &self.resource_ids,
            &self.origins,
            &self.received_at,
            &self.headers,
            &self.bodies,
        ]
    }
}
