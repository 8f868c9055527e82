//! Leases due effects: from here on they are ours until the lease ends, whatever becomes of us.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio_postgres::{Row, types::Json};
use uuid::Uuid;

use crate::Result;

/// Which effects to lease.
#[derive(Debug, Clone, Copy)]
pub struct ClaimRequest<'a> {
    /// Where they go.
    pub destination: &'a str,
    /// Spares the scan over what was due before and is gone but not yet cleaned up. A hint: rows can become visible
    /// below it, so claim from the epoch now and then.
    pub due_from: Timestamp,
    /// Due are those not later than this.
    pub now: Timestamp,
    /// When others may take them.
    pub lease_until: Timestamp,
    /// How many at most.
    pub limit: usize,
}

/// What a claim brought.
#[derive(Debug)]
pub struct Claim {
    /// Leased effects, each the head of its lane.
    pub effects: Vec<ClaimedEffect>,
    /// Whether there may be more right now.
    pub more: bool,
    /// When the longest waiting of those looked at was due.
    pub oldest_due: Option<Timestamp>,
}

/// A leased effect with the row as it was when the effect was born.
#[derive(Debug)]
pub struct ClaimedEffect {
    /// Its id, and its idempotency key at the destination.
    pub effect_id: Uuid,
    /// Proof of this very claim.
    pub lease_token: Uuid,
    /// Number of the attempt that this claim allows, from 1.
    pub attempt: i32,
    /// Effects of one lane are delivered one after the other.
    pub lane: i64,
    /// The endpoint its facts came by.
    pub source: String,
    /// Kind of its resource.
    pub kind: String,
    /// Id of its resource.
    pub resource_id: String,
    /// Its name in the flow.
    pub effect: String,
    /// What tells it from others of its name and resource.
    pub effect_key: String,
    /// Status of the row.
    pub status: String,
    /// Version of the row.
    pub version_major: i64,
    /// Fields of the row as a JSON object, digit for digit as stored.
    pub fields: Box<RawValue>,
    /// When it was born.
    pub created_at: Timestamp,
}

/// Leases up to `limit` effects that are due and at the head of their lane, and counts the attempt that follows.
/// One statement. Effects of a paused destination stay where they are.
///
/// # Errors
/// When the database refuses or is away.
pub async fn claim(client: &impl GenericClient, request: ClaimRequest<'_>) -> Result<Claim> {
    let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
    // Some of those due stand behind others.
    let looked_at_max = limit.saturating_add(limit / 2).saturating_add(16);
    let statement = client.prepare_cached(include_str!("claim.sql")).await?;
    let rows = client
        .query(
            &statement,
            &[
                &request.destination,
                &request.due_from,
                &request.now,
                &request.lease_until,
                &limit,
                &looked_at_max,
            ],
        )
        .await?;
    let first = rows.first();
    Ok(Claim {
        more: first.is_some_and(|row| row.get(0)),
        oldest_due: first.and_then(|row| row.get(1)),
        effects: rows.iter().filter_map(from_row).collect(),
    })
}

/// `None` for the row that only says that nothing was leased.
fn from_row(row: &Row) -> Option<ClaimedEffect> {
    let effect_id: Option<Uuid> = row.get(2);
    Some(ClaimedEffect {
        effect_id: effect_id?,
        lease_token: row.get(3),
        attempt: row.get(4),
        lane: row.get(5),
        source: row.get(6),
        kind: row.get(7),
        resource_id: row.get(8),
        effect: row.get(9),
        effect_key: row.get(10),
        status: row.get(11),
        version_major: row.get(12),
        fields: row.get::<_, Json<Box<RawValue>>>(13).0,
        created_at: row.get(14),
    })
}
