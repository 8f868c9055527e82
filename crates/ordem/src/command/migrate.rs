//! `ordem migrate`: brings the schema up to date, one migrator at a time.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use db::SchemaState;
use serde::Serialize;
use service::settings::Configured;

use crate::{failure::BadInput, report::Report, session::Session, since};

/// Bring the database's schema up to date and make the partitions of the coming weeks
///
/// Safe to run at any time and many times at once: one migrator works, the others wait for it, each as long as `--wait`
/// says.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Longest wait for a database that does not answer, and for another migrator at work.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = since::length)]
    wait: Duration,
}

/// What was migrated.
#[derive(Debug, Serialize)]
pub(crate) struct Migrated {
    /// Versions applied now, in order.
    applied: Vec<i32>,
    /// The schema's version now.
    version: i32,
    /// Weekly partitions made now.
    partitions_made: i32,
    /// Weekly partitions dropped now, because their retention is over.
    partitions_dropped: i32,
}

impl Args {
    /// Migrates.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Migrated> {
        let configured = Configured::load(dir).map_err(|faults| BadInput::faults(&faults))?;
        let retention = configured.settings.applier.retention.get();
        // A migration may take long, and so may the wait for another migrator.
        let session = Session::with(configured, |options| options.statement_timeout = Duration::ZERO)?;
        let mut client = session.dial_patiently(self.wait).await?;
        let state = db::schema_state(&client).await.with_context(|| session.place.clone())?;
        if matches!(state, SchemaState::Ahead { .. }) {
            state.require_current()?;
        }
        let applied = db::migrate(&mut client, self.wait).await.with_context(|| session.place.clone())?;
        let kept = db::partitions::keep(&client, session.now, retention)
            .await
            .context("the schema is up to date, but its partitions could not be kept")?;
        Ok(Migrated {
            applied,
            version: db::newest_version(),
            partitions_made: kept.made,
            partitions_dropped: kept.dropped,
        })
    }
}

impl Report for Migrated {
    fn text(&self) -> String {
        if self.applied.is_empty() {
            return format!("already at version {}\n", self.version);
        }
        let versions: Vec<String> = self.applied.iter().map(ToString::to_string).collect();
        format!("applied version {}; now at version {}\n", versions.join(", "), self.version)
    }
}
