//! Records what became of leased effects, many at a time.

use std::collections::HashSet;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Result;

/// What became of one leased effect.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Which effect.
    pub effect_id: Uuid,
    /// Proof of the claim.
    pub lease_token: Uuid,
    /// Its lane.
    pub lane: i64,
    /// What follows.
    pub end: End,
    /// The call itself.
    pub attempt: Attempt,
}

/// What follows a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It arrived.
    Delivered,
    /// It is given up; an operator may put it back.
    Dead {
        /// Why.
        error: String,
        /// Whether it stays at the head of its lane, so that what follows waits for the operator.
        holds_lane: bool,
    },
    /// It is tried again.
    Postponed {
        /// When.
        due_at: Timestamp,
        /// Why.
        error: String,
        /// Whether the attempt counts towards the limit.
        counted: bool,
    },
}

impl End {
    /// The name in the outcome's table, or `postponed`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Dead { .. } => "dead",
            Self::Postponed { .. } => "postponed",
        }
    }

    /// Why it did not arrive.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Delivered => None,
            Self::Dead { error, .. } | Self::Postponed { error, .. } => Some(error),
        }
    }

    const fn due_at(&self) -> Option<Timestamp> {
        match self {
            Self::Postponed { due_at, .. } => Some(*due_at),
            Self::Delivered | Self::Dead { .. } => None,
        }
    }

    /// Whether it stays at the head of its lane.
    const fn keeps_place(&self) -> bool {
        matches!(self, Self::Postponed { .. } | Self::Dead { holds_lane: true, .. })
    }

    const fn is_counted(&self) -> bool {
        !matches!(self, Self::Postponed { counted: false, .. })
    }
}

/// One call to a destination. Texts must be free of NUL.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration_ms: i32,
    /// `delivered`, `transient` or `permanent`.
    pub result: &'static str,
    /// Status of the answer, where there was one.
    pub http_status: Option<i32>,
    /// The beginning of the answer, where it is kept.
    pub response_excerpt: Option<String>,
}

/// What [`finish`] did.
#[derive(Debug)]
pub struct Written {
    /// The effects whose results were recorded; a result whose lease is lost is dropped.
    pub recorded: HashSet<Uuid>,
    /// How many effects that were held back behind these may go now.
    pub woken: u64,
}

/// Records these results for one destination, and lets the next effect of each lane go whose head is done.
///
/// Two statements, the second right after the first has committed: only so it sees each follower that was queued or
/// held back meanwhile. Should it be lost, followers go on when their wait ends.
///
/// # Errors
/// When the database refuses or is away. The same results may be handed in again.
pub async fn finish(
    client: &impl GenericClient,
    destination: &str,
    now: Timestamp,
    results: &[Finished],
) -> Result<Written> {
    let recorded = if results.is_empty() { HashSet::new() } else { record(client, now, results).await? };
    let gone = results.iter().filter(|result| !result.end.keeps_place());
    let lanes: Vec<i64> = gone.map(|result| result.lane).collect();
    let woken = wake_next(client, destination, now, &lanes).await?;
    Ok(Written { recorded, woken })
}

/// Lets the next effect of each of these lanes go: call it right after the commit that removed its head. Returns how
/// many effects that were held back may go now.
///
/// # Errors
/// When the database refuses or is away; followers then go on when their wait ends.
pub async fn wake_next(
    client: &impl GenericClient,
    destination: &str,
    now: Timestamp,
    lanes: &[i64],
) -> Result<u64> {
    if lanes.is_empty() {
        return Ok(0);
    }
    let statement = client.prepare_cached(include_str!("wake_next.sql")).await?;
    Ok(client.execute(&statement, &[&destination, &lanes, &now]).await?)
}

pub(crate) async fn record(
    client: &impl GenericClient,
    now: Timestamp,
    results: &[Finished],
) -> Result<HashSet<Uuid>> {
    let ids: Vec<Uuid> = results.iter().map(|result| result.effect_id).collect();
    let tokens: Vec<Uuid> = results.iter().map(|result| result.lease_token).collect();
    let states: Vec<&str> = results.iter().map(|result| result.end.as_str()).collect();
    let due: Vec<Option<Timestamp>> = results.iter().map(|result| result.end.due_at()).collect();
    let errors: Vec<Option<&str>> = results.iter().map(|result| result.end.error()).collect();
    let counted: Vec<bool> = results.iter().map(|result| result.end.is_counted()).collect();
    let kept: Vec<bool> = results.iter().map(|result| result.end.keeps_place()).collect();
    let started: Vec<Timestamp> = results.iter().map(|result| result.attempt.started_at).collect();
    let durations: Vec<i32> = results.iter().map(|result| result.attempt.duration_ms).collect();
    let words: Vec<&str> = results.iter().map(|result| result.attempt.result).collect();
    let statuses: Vec<Option<i32>> = results.iter().map(|result| result.attempt.http_status).collect();
    let excerpts: Vec<Option<&str>> =
        results.iter().map(|result| result.attempt.response_excerpt.as_deref()).collect();
    let statement = client.prepare_cached(include_str!("finish.sql")).await?;
    let rows = client
        .query(
            &statement,
            &[
                &ids, &tokens, &states, &due, &errors, &counted, &started, &durations, &words, &statuses,
                &excerpts, &now, &kept,
            ],
        )
        .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
