//! The applier: takes events from the inbox, decides by the domain's pure rules, writes rows, effects and outcomes.
//!
//! One batch is one transaction: claim, lock the resources, load their rows, decide in memory, write, commit. An
//! event that fails never takes its neighbours along: see [`poison`].

mod batch;
mod decided;
mod direct;
mod failure;
mod housekeeping;
mod mark;
pub mod poison;
mod reading;
mod tally;
mod worker;

use db::{PlanShape, inbox::EventVerdict};
use metrics::counter;
use service::{Context, Daemon, metrics as names, settings::Demand};
use tokio::task::JoinSet;

pub use worker::{Pass, Worker};

/// What the bootstrap needs to know.
pub const DAEMON: Daemon = Daemon {
    name: "applier",
    about: "Ordem's applier: turns events of the inbox into rows and effects, whatever order they came in",
    version: env!("CARGO_PKG_VERSION"),
    admin: |settings| settings.applier.admin,
    plans: PlanShape::Pinned,
    demand: Demand::Nothing,
};

/// Counters that alerts look at begin at zero: one that first appears at one never increased.
fn begin_counts(context: &Context) {
    for source in context.configured.profiles.keys() {
        for verdict in [EventVerdict::Dead, EventVerdict::Malformed, EventVerdict::Ignored] {
            let source = source.clone();
            counter!(names::EVENTS_OUTCOME, "source" => source, "outcome" => verdict.as_str()).absolute(0);
        }
    }
}

/// Applies events until the stop; the batch in work is finished.
///
/// # Errors
/// When a function that takes effects in the applier's transaction cannot be called, or a worker fails in a way that
/// waiting does not mend.
pub async fn run(context: Context) -> anyhow::Result<()> {
    direct::Direct::of(&context.configured).require_functions(&context.pool).await?;
    let mut tasks = JoinSet::new();
    for _ in 0..context.configured.settings.applier.workers {
        let worker = Worker::new(&context);
        tasks.spawn(worker.run(context.database.clone(), context.shutdown.clone()));
    }
    tasks.spawn(housekeeping::run(
        context.pool.clone(),
        context.clock.clone(),
        context.configured.clone(),
        context.shutdown.clone(),
    ));
    begin_counts(&context);
    context.health.started();
    tracing::info!(workers = context.configured.settings.applier.workers, "applying");
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    Ok(())
}
