//! What the applier does besides: keeps the partitions, trims the ledgers of keys, and says how much waits.

use std::{sync::Arc, time::Duration};

use db::{
    Pool, inbox,
    keys::{self, Ledger},
    partitions,
};
use domain::Clock;
use metrics::{counter, gauge};
use service::{Shutdown, metrics as names, settings::Configured};
use tokio::time::Instant;

const GAUGES_EVERY: Duration = Duration::from_secs(5);
const PARTITIONS_EVERY: Duration = Duration::from_secs(3600);
/// 4 MB and some 40,000 keys, a quarter of a second when all are old: whoever stores one of them waits that long at most.
const TRIM_PAGES: i32 = 500;
/// Each time that the gauges are set, for each ledger: a table of 10 GB is walked in an hour.
const TRIM_STEPS: usize = 4;

/// Runs until the stop.
pub(crate) async fn run(pool: Pool, clock: Arc<dyn Clock>, configured: Arc<Configured>, shutdown: Shutdown) {
    let applier = &configured.settings.applier;
    let (retention, keys_retention) = (applier.retention.get(), applier.keys_retention.get());
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
        for ledger in Ledger::ALL {
            if let Err(error) = trim_keys(&pool, clock.as_ref(), ledger, keys_retention, &shutdown).await {
                tracing::warn!(%error, ledger = ledger.as_str(), "keys not trimmed, trying again soon");
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

/// A few steps through one ledger: what is left has its turn next time.
async fn trim_keys(
    pool: &Pool,
    clock: &dyn Clock,
    ledger: Ledger,
    retention: Duration,
    shutdown: &Shutdown,
) -> db::Result<()> {
    let client = pool.get().await?;
    for _ in 0..TRIM_STEPS {
        let trimmed = keys::trim(&client, ledger, clock.now(), retention, TRIM_PAGES).await?;
        counter!(names::KEYS_TRIMMED, "ledger" => ledger.as_str()).increment(trimmed.keys);
        if trimmed.wrapped || shutdown.is_triggered() {
            break;
        }
    }
    Ok(())
}
