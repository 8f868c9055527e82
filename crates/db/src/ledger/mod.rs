//! What users' own books say of themselves, and whether they hold what was delivered to them.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;

use crate::{Result, outbox::FunctionName};

/// Something wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFault {
    /// What is wrong.
    pub problem: String,
    /// With what.
    pub subject: String,
    /// In which way.
    pub detail: String,
}

/// The rows of the user's view, or of a function without arguments, with the columns `problem`, `subject` and `detail`;
/// at most `limit` of them.
///
/// # Errors
/// When there is no such view, it fails, or the database is away.
pub async fn faults_told(
    client: &impl GenericClient,
    view: &FunctionName,
    limit: i64,
) -> Result<Vec<LedgerFault>> {
    let statement = client.prepare_cached(include_str!("faults_told.sql")).await?;
    let rows = client.query(&statement, &[&view.schema(), &view.name(), &limit]).await?;
    Ok(rows.iter().map(fault).collect())
}

/// Effects of these destinations that are not done, or are not exactly once in the user's view, table or function with
/// the column `effect_id`; at most `limit` of them. Discarded ones may be in it or not.
///
/// # Errors
/// When there is no such view, it fails, or the database is away.
pub async fn not_booked_once(
    client: &impl GenericClient,
    booked: &FunctionName,
    destinations: &[&str],
    limit: i64,
) -> Result<Vec<LedgerFault>> {
    let statement = client.prepare_cached(include_str!("not_booked_once.sql")).await?;
    let rows = client.query(&statement, &[&booked.schema(), &booked.name(), &destinations, &limit]).await?;
    Ok(rows.iter().map(fault).collect())
}

fn fault(row: &Row) -> LedgerFault {
    // A column that a view leaves empty is still a row that tells of something wrong.
    let text = |at: usize| row.get::<_, Option<String>>(at).unwrap_or_default();
    LedgerFault { problem: text(0), subject: text(1), detail: text(2) }
}
