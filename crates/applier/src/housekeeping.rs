//! What the applier does besides: keeps the partitions, and says how much waits.

use std::{sync::Arc, time::Duration};

use db::{Pool, inbox, partitions};
use domain::Clock;
use metrics::gauge;
use service::{Shutdown, metrics as names, settings::Configured};
use tokio::time::Instant;

const GAUGES_EVERY: Duration = Duration::from_secs(5);
const PARTITIONS_EVERY: Duration = Duration::from_secs(3600);

/// Runs until the stop.
pub(crate) async fn run(pool: Pool, clock: Arc<dyn Clock>, configured: Arc<Configured>, shutdown: Shutdown) {
    let retention = configured.settings.applier.retention.get();
    let mut next_partitions = Instant::now();
    while !shutdown.is_triggered() {
        if let Err(error) = show_backlog(&pool, clock.as_ref()).await {
            tracing::debug!(%error, "backlog not known");
        }
        if Instant::now() >= next_partitions {
            match keep_partitions(&pool, clock.as_ref(), retention).await {
                Ok(()) => next_partitions = Instant::now() + PARTITIONS_EVERY,
                Err(error) => tracing::warn!(%error, "partitions not kept, trying again soon"),
            }
        }
        shutdown.sleep(GAUGES_EVERY).await;
    }
}

async fn show_backlog(pool: &Pool, clock: &dyn Clock) -> db::Result<()> {
    let client = pool.get().await?;
    let backlog = inbox::backlog(&client, clock.now()).await?;
    gauge!(names::INBOX_BACKLOG).set((backlog.queued + backlog.retries) as f64);
    gauge!(names::INBOX_OLDEST_SECONDS).set(backlog.oldest.as_secs_f64());
    Ok(())
}

async fn keep_partitions(pool: &Pool, clock: &dyn Clock, retention: Duration) -> db::Result<()> {
    let client = pool.get().await?;
    let kept = partitions::keep(&client, clock.now(), retention).await?;
    if kept.made > 0 || kept.dropped > 0 {
        tracing::info!(made = kept.made, dropped = kept.dropped, "partitions kept");
    }
    Ok(())
}
