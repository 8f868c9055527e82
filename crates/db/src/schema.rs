//! The schema's version: migrated by `ordem migrate` under a lock, only checked by the daemons.

use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Client;

use crate::{Error, Result};

mod embedded {
    #![allow(missing_docs, unreachable_pub, reason = "made by a macro")]
    refinery::embed_migrations!("../../migrations");
}

/// Two migrations at once wait for each other on this advisory lock ("ordem" as a number).
const MIGRATION_LOCK: i64 = 0x006f_7264_656d;

/// How often a migrator that waits looks whether the lock is free.
const LOCK_EVERY: Duration = Duration::from_millis(100);

const HISTORY: &str = "ordem_engine.schema_history";

/// Where a database stands, compared with this binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    /// Just what this binary was built for.
    Current,
    /// Never migrated.
    Missing,
    /// Older than this binary needs.
    Behind {
        /// Version of the database.
        found: i32,
    },
    /// Newer than this binary knows.
    Ahead {
        /// Version of the database.
        found: i32,
    },
}

impl SchemaState {
    /// # Errors
    /// [`Error::Schema`] with the way out, unless the schema is current.
    pub fn require_current(&self) -> Result<()> {
        let newest = newest_version();
        let text = match self {
            Self::Current => return Ok(()),
            Self::Missing => format!(
                "the database has no Ordem schema (this binary needs version {newest}): run `ordem migrate`"
            ),
            Self::Behind { found } => format!(
                "the database is at schema version {found}, this binary needs {newest}: run `ordem migrate`"
            ),
            Self::Ahead { found } => format!(
                "the database is at schema version {found}, this binary knows only {newest}: \
                 use the release that belongs to that schema"
            ),
        };
        Err(Error::Schema(text))
    }
}

/// The schema version this binary was built for.
pub fn newest_version() -> i32 {
    embedded::migrations::runner()
        .get_migrations()
        .iter()
        .map(refinery::Migration::version)
        .max()
        .unwrap_or(0)
}

/// Changes whenever a migration is added or its text changes; for databases that are made from a template.
pub fn fingerprint() -> u64 {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().fold(0, |all, migration| all.rotate_left(7) ^ migration.checksum())
}

/// Brings the schema up to date, one migrator at a time, and returns the versions applied. Another migrator is waited
/// for at most `lock_wait`: one that hangs would be waited for for ever.
///
/// # Errors
/// When a migration fails, history differs from what this binary carries, or another migrator has the lock.
pub async fn migrate(client: &mut Client, lock_wait: Duration) -> Result<Vec<i32>> {
    lock(client, lock_wait).await?;
    let applied = run(client).await;
    client.execute("select pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).await?;
    applied
}

/// Takes the migrators' lock. It asks again and again instead of waiting inside the server: a time limit there is a
/// setting of the session, which the migrations after it would inherit.
async fn lock(client: &Client, at_most: Duration) -> Result<()> {
    let end = Instant::now() + at_most;
    loop {
        let row = client.query_one("select pg_try_advisory_lock($1)", &[&MIGRATION_LOCK]).await?;
        if row.get(0) {
            return Ok(());
        }
        if Instant::now() >= end {
            return Err(Error::Schema(lock_is_taken(client, at_most).await?));
        }
        tokio::time::sleep(LOCK_EVERY).await;
    }
}

async fn lock_is_taken(client: &Client, waited: Duration) -> Result<String> {
    let holder = client.query_opt(include_str!("migration_lock_holder.sql"), &[&MIGRATION_LOCK]).await?;
    let waited = waited.as_secs();
    let Some(holder) = holder else {
        return Ok(format!("another migrator had the lock for {waited} s and has just ended: run it again"));
    };
    let (pid, name, state): (i32, &str, &str) = (holder.get(0), holder.get(1), holder.get(2));
    Ok(format!(
        "another migrator holds the lock, gave up after {waited} s: server process {pid} (\"{name}\", {state}); \
         let it end, or if it hangs end it with `select pg_terminate_backend({pid})`, and run this again"
    ))
}

async fn run(client: &mut Client) -> Result<Vec<i32>> {
    // The history table lives in our schema, so the schema comes first.
    client.batch_execute("create schema if not exists ordem_engine").await?;
    let mut runner = embedded::migrations::runner();
    runner.set_migration_table_name(HISTORY);
    let report = runner.run_async(client).await.map_err(|error| {
        let mut text = format!("migration failed: {error}");
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        Error::Schema(text)
    })?;
    Ok(report.applied_migrations().iter().map(refinery::Migration::version).collect())
}

/// Compares the database with this binary.
///
/// # Errors
/// When the database cannot be asked.
pub async fn schema_state(client: &Client) -> Result<SchemaState> {
    let known = client.query_one("select to_regclass($1) is not null", &[&HISTORY]).await?;
    if !known.get::<_, bool>(0) {
        return Ok(SchemaState::Missing);
    }
    let row = client.query_one(include_str!("schema_version.sql"), &[]).await?;
    let newest = newest_version();
    Ok(match row.get::<_, Option<i32>>(0) {
        None => SchemaState::Missing,
        Some(found) if found < newest => SchemaState::Behind { found },
        Some(found) if found > newest => SchemaState::Ahead { found },
        Some(_) => SchemaState::Current,
    })
}
