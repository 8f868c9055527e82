//! Measures what waits, for each destination.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use db::{
    Pool,
    outbox::{self, Backlog},
};
use domain::Clock;
use jiff::Timestamp;
use metrics::gauge;
use service::{
    Shutdown,
    metrics::{OUTBOX_BACKLOG, OUTBOX_OLDEST_SECONDS},
    settings::Configured,
};
use tokio::time::Instant;

const EVERY: Duration = Duration::from_secs(5);
/// Measuring reads the whole queue: it may take this share of the time at most.
const SHARE: u32 = 20;

/// Keeps the gauges true until the stop, also those of destinations that are off.
pub(crate) async fn keep_measuring(
    pool: Pool,
    clock: Arc<dyn Clock>,
    configured: Arc<Configured>,
    shutdown: Shutdown,
) {
    // A destination that nothing waits for any more goes to zero and stays there.
    let mut known: BTreeMap<String, Option<Backlog>> =
        configured.settings.destinations.keys().map(|name| (name.clone(), None)).collect();
    while !shutdown.is_triggered() {
        let begun = Instant::now();
        let now = clock.now();
        match measure(&pool, now).await {
            Ok(found) => {
                known.values_mut().for_each(|backlog| *backlog = None);
                known.extend(found.into_iter().map(|backlog| (backlog.destination.clone(), Some(backlog))));
                known.iter().for_each(|(name, backlog)| show(name, backlog.as_ref(), now));
            }
            Err(error) => tracing::debug!(%error, "backlog not measured"),
        }
        shutdown.sleep(EVERY.max(begun.elapsed() * SHARE)).await;
    }
}

async fn measure(pool: &Pool, now: Timestamp) -> db::Result<Vec<Backlog>> {
    let client = pool.get().await?;
    outbox::backlog(&client, now).await
}

#[allow(clippy::cast_precision_loss, reason = "a gauge is a float")]
fn show(name: &str, backlog: Option<&Backlog>, now: Timestamp) {
    let states = backlog.map_or([0; 3], |backlog| [backlog.due, backlog.waiting, backlog.leased]);
    for (state, count) in ["due", "waiting", "leased"].into_iter().zip(states) {
        gauge!(OUTBOX_BACKLOG, "destination" => name.to_owned(), "state" => state).set(count as f64);
    }
    let oldest = backlog.and_then(|backlog| backlog.oldest);
    let age = oldest.map_or(0.0, |oldest| now.duration_since(oldest).as_secs_f64().max(0.0));
    gauge!(OUTBOX_OLDEST_SECONDS, "destination" => name.to_owned()).set(age);
}
