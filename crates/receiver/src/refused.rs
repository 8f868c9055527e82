//! Keeps a sample of refused requests, so that a wrong secret can be seen and the events be had later.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use db::{
    Pool,
    inbox::{RefusedRequest, record_refused},
};
use jiff::Timestamp;
use tokio::{sync::mpsc, time::Instant};

/// At most one sample of a source in this time.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// Most of a body that is kept.
const BODY_BYTES_MAX: usize = 64 * 1024;
const QUEUE_MAX: usize = 64;

/// A refused request on its way to the table.
pub(crate) struct Refused {
    pub(crate) source: Arc<str>,
    pub(crate) refused_at: Timestamp,
    pub(crate) reason: &'static str,
    pub(crate) headers: String,
    pub(crate) body: Bytes,
}

/// Takes refused requests from all workers; drops them when there are too many.
#[derive(Clone)]
pub(crate) struct Sampler {
    queue: mpsc::Sender<Refused>,
}

impl Sampler {
    /// Starts the task that keeps the samples, at most `keep` of each source.
    pub(crate) fn start(pool: Pool, keep: u32) -> Self {
        let (queue, arrived) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(sample(pool, keep, arrived));
        Self { queue }
    }

    /// Offers a request.
    pub(crate) fn offer(&self, refused: Refused) {
        let _dropped_when_full = self.queue.try_send(refused);
    }
}

async fn sample(pool: Pool, keep: u32, mut arrived: mpsc::Receiver<Refused>) {
    let mut last: HashMap<Arc<str>, Instant> = HashMap::new();
    while let Some(refused) = arrived.recv().await {
        let now = Instant::now();
        let recent = last.get(&refused.source).is_some_and(|at| now.duration_since(*at) < SAMPLE_EVERY);
        if keep == 0 || recent {
            continue;
        }
        last.insert(refused.source.clone(), now);
        tracing::warn!(source = %refused.source, reason = refused.reason, "request refused: see `ordem refused`");
        if let Err(error) = store(&pool, &refused, keep).await {
            tracing::debug!(%error, "sample of a refused request lost");
        }
    }
}

async fn store(pool: &Pool, refused: &Refused, keep: u32) -> db::Result<()> {
    let client = pool.get().await?;
    let request = RefusedRequest {
        refusal_id: db::ids::new_id(refused.refused_at),
        source: &refused.source,
        refused_at: refused.refused_at,
        reason: refused.reason,
        headers: &refused.headers,
        body: &refused.body[..refused.body.len().min(BODY_BYTES_MAX)],
        body_bytes: i64::try_from(refused.body.len()).unwrap_or(i64::MAX),
    };
    // The new one is among those kept.
    record_refused(&client, &request, i64::from(keep) - 1).await
}
