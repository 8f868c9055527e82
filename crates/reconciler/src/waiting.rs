//! How many look-ups wait, also those of sources whose API nobody can read.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use db::{Pool, lookups};
use domain::Clock;
use metrics::gauge;
use service::{Shutdown, metrics as names};

const EVERY: Duration = Duration::from_secs(5);

/// Runs until the stop.
pub(crate) async fn show(pool: Pool, clock: Arc<dyn Clock>, shutdown: Shutdown) {
    let mut shown = BTreeSet::new();
    while !shutdown.is_triggered() {
        if let Err(error) = show_once(&pool, clock.as_ref(), &mut shown).await {
            tracing::debug!(%error, "waiting look-ups not known");
        }
        shutdown.sleep(EVERY).await;
    }
}

async fn show_once(pool: &Pool, clock: &dyn Clock, shown: &mut BTreeSet<String>) -> db::Result<()> {
    let client = pool.get().await?;
    let waiting = lookups::backlog(&client).await?;
    let now = clock.now();
    // A source that has none any more is not in the list.
    for source in shown.iter() {
        gauge!(names::LOOKUPS_WAITING, "source" => source.clone()).set(0.0);
        gauge!(names::LOOKUPS_OLDEST_SECONDS, "source" => source.clone()).set(0.0);
    }
    for lookups in waiting {
        let age = now.duration_since(lookups.oldest).as_secs_f64().max(0.0);
        gauge!(names::LOOKUPS_WAITING, "source" => lookups.source.clone()).set(lookups.lookups as f64);
        gauge!(names::LOOKUPS_OLDEST_SECONDS, "source" => lookups.source.clone()).set(age);
        shown.insert(lookups.source);
    }
    Ok(())
}
