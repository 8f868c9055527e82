//! The reconciler: reads each provider's own API for what its webhooks missed, and puts it into the inbox.
//!
//! It decides nothing about orders: what it finds meets the same rules as every webhook, in the applier. One
//! process leads a source at a time ([`run`]); the leader reads in rounds, from a little before the cursor to a
//! little before now ([`SourceReader::round`]), page by page, and stores each page with the cursor's move in one
//! transaction. [`SourceReader::pull_window`] does the same for any window of time, without the cursor.

mod backoff;
mod failure;
mod lag;
mod lead;
mod login;
mod lookups;
mod order;
mod pace;
mod page;
mod pages;
mod patience;
mod provider;
mod pull;
mod reread;
mod round;
mod source;
mod store;
mod trouble;
mod waiting;
mod walk;
mod watch;
mod window;

use std::sync::Arc;

use anyhow::Context as _;
use db::PlanShape;
use service::{Context, Daemon, settings::Demand};
use tokio::task::JoinSet;

pub use failure::Failure;
pub use lookups::Served;
pub use pull::{End, Pulled, Tell, Window};
pub use reread::Reopened;
pub use source::{OpenError, Parts, SourceReader};
pub use watch::Looked;

/// What the bootstrap needs to know.
pub const DAEMON: Daemon = Daemon {
    name: "reconciler",
    about: "Ordem's reconciler: reads each provider's API for what its webhooks missed and puts it into the inbox",
    version: env!("CARGO_PKG_VERSION"),
    admin: |settings| settings.reconciler.admin,
    plans: PlanShape::Pinned,
    demand: Demand::Nothing,
};

/// Reads every source that can be read until the stop, then finishes or gives up the page in work.
///
/// # Errors
/// When a source's API address cannot be used, or the HTTP client cannot be made.
pub async fn run(context: Context) -> anyhow::Result<()> {
    let mut leads = JoinSet::new();
    for name in context.configured.profiles.keys() {
        let reader = match SourceReader::open_for_lookups(name, parts(&context)) {
            Ok(reader) => Arc::new(reader),
            Err(OpenError::Off(reason)) => {
                tracing::warn!(source = name, "sources.{name} is not reconciled: {reason}");
                if context.configured.profiles[name].fetches_any() {
                    tracing::warn!(
                        source = name,
                        "events of sources.{name} that need the provider wait: {reason}"
                    );
                }
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("sources.{name}")),
        };
        if context.configured.profiles[name].fetches_any() {
            leads.spawn(lookups::serve(Arc::clone(&reader), context.database.clone()));
        }
        match reader.has_rounds() {
            true => _ = leads.spawn(lead::keep(reader, context.database.clone())),
            false => tracing::warn!(
                source = name,
                "sources.{name} is not reconciled: its profile describes no list of the provider's API"
            ),
        }
    }
    leads.spawn(waiting::show(context.pool.clone(), context.clock.clone(), context.shutdown.clone()));
    context.health.started();
    // The tasks end with the stop; one that panicked ends the daemon.
    while let Some(ended) = leads.join_next().await {
        ended.context("reading a source failed")?;
    }
    context.shutdown.triggered().await;
    Ok(())
}

fn parts(context: &Context) -> Parts {
    Parts {
        configured: Arc::clone(&context.configured),
        pool: context.pool.clone(),
        clock: Arc::clone(&context.clock),
        shutdown: context.shutdown.clone(),
    }
}
