//! The publisher: carries effects from the outbox to their destinations.
//!
//! Lease, commit, call, commit: no transaction is open while the network is waited for, and a process that dies
//! anywhere leaves leases behind that end by themselves. An effect arrives at least once, always under the same
//! idempotency key; the effects of one resource arrive one after the other.
//!
//! Each destination has its own loop ([`dispatch`]) around the steps of its [`Courier`], so that a slow one never
//! holds up another. What an answer means stands in one table: [`verdict`].

mod answer;
mod backlog;
pub mod breaker;
mod courier;
pub mod dispatch;
mod excerpt;
mod lease;
mod mark;
mod measures;
pub mod message;
mod pace;
mod policy;
mod record;
mod share;
mod throttle;
mod transport;
pub mod verdict;

use std::sync::Arc;

use anyhow::Context as _;
use db::{Channel, Listener, PlanShape};
use service::{Context, Daemon, settings::Demand};
use tokio::{sync::watch, task::JoinSet};

pub use courier::{Courier, Leased, Report};

/// What the bootstrap needs to know.
pub const DAEMON: Daemon = Daemon {
    name: "publisher",
    about: "Ordem's publisher: delivers each effect to its destination, in order, with retries and one idempotency key",
    version: env!("CARGO_PKG_VERSION"),
    admin: |settings| settings.publisher.admin,
    plans: PlanShape::Pinned,
    demand: Demand::Destinations,
};

/// Delivers effects until the stop; calls in flight are finished and their results written.
///
/// # Errors
/// When a destination's address or secret cannot be used, or a part fails in a way that waiting does not mend.
pub async fn run(context: Context) -> anyhow::Result<()> {
    let settings = &context.configured.settings.publisher;
    let (wake, woken) = watch::channel(0);
    let mut tasks = JoinSet::new();
    let mut names = Vec::new();
    for destination in context.configured.served() {
        names.push(destination.name.as_str());
        // Those with `in_transaction` as well: their queue holds what was written before they were.
        let (pool, clock) = (context.pool.clone(), context.clock.clone());
        let courier = Courier::new(destination, settings, &context.database, pool, clock)
            .with_context(|| format!("destinations.{}", destination.name))?;
        tasks.spawn(dispatch::run(Arc::new(courier), woken.clone(), context.shutdown.clone()));
    }
    let listener = Listener::start(context.database.clone(), Channel::Effects);
    tasks.spawn(dispatch::keep_waking(listener, wake, settings.poll.get(), context.shutdown.clone()));
    tasks.spawn(backlog::keep_measuring(
        context.pool.clone(),
        context.clock.clone(),
        context.configured.clone(),
        context.shutdown.clone(),
    ));
    context.health.started();
    tracing::info!(destinations = names.join(", "), "publishing");
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    Ok(())
}
