//! Trims the ledgers of keys, by which events are stored once and effects written once.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;

use crate::{Result, partitions};

/// A ledger of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ledger {
    /// Dedup keys of events.
    Inbox,
    /// What effects were written for which resource.
    Effects,
}

impl Ledger {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Inbox, Self::Effects];

    /// Its table, which is also its name in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox_keys",
            Self::Effects => "effect_keys",
        }
    }
}

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trimmed {
    /// Keys deleted.
    pub keys: u64,
    /// Nothing more to do for now: the table's end was reached less than an hour ago, or another process is at it.
    pub wrapped: bool,
}

/// Walks the next `pages` (1 to 10,000) pages of a ledger and deletes the keys whose event or effect came more than
/// `retention` before `now`, unless it still waits for anything. The place is kept in the database, and each step is
/// one statement of its own, which stores of the same keys may have to wait for.
///
/// # Errors
/// When the database refuses, as it does a retention of zero, or is away.
pub async fn trim(
    client: &impl GenericClient,
    ledger: Ledger,
    now: Timestamp,
    retention: Duration,
    pages: i32,
) -> Result<Trimmed> {
    let seconds = partitions::seconds(retention);
    let row = client.query_one(include_str!("keys.sql"), &[&ledger.as_str(), &now, &seconds, &pages]).await?;
    Ok(Trimmed { keys: u64::try_from(row.get::<_, i64>(0)).unwrap_or(0), wrapped: row.get(1) })
}
