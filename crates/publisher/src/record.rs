//! Writes results down: whatever has come in while the last statement was under way goes into the next.

use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::{Courier, Report};

/// Longest wait between two tries to reach a database that is away.
pub(crate) const DATABASE_PAUSE_MAX: Duration = Duration::from_secs(5);
/// Most results of one statement.
const BATCH_MAX: usize = 256;

/// Records until all senders are gone. Notifies when effects that waited behind others may go.
pub(crate) async fn keep_recording(courier: &Courier, mut queue: mpsc::Receiver<Report>, freed: &Notify) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while queue.recv_many(&mut batch, BATCH_MAX).await > 0 {
        if record(courier, &batch).await > 0 {
            freed.notify_one();
        }
        batch.clear();
    }
}

/// Tries until the database has taken the batch: what is not written down is called again.
async fn record(courier: &Courier, batch: &[Report]) -> u64 {
    let mut pause = Duration::from_millis(100);
    loop {
        match courier.record(batch).await {
            Ok(freed) => return freed,
            Err(
                error @ (db::Error::Refused(_)
                | db::Error::Settings(_)
                | db::Error::Schema(_)
                | db::Error::Function { .. }),
            ) => {
                return record_halves(courier, batch, &error).await;
            }
            Err(error @ (db::Error::Unavailable(_) | db::Error::Retry(_) | db::Error::TooSlow(_))) => {
                tracing::warn!(%error, destination = courier.name(), "results not written yet, trying again");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(DATABASE_PAUSE_MAX);
    }
}

/// A refused batch is taken apart, so that one result does not take its neighbours along.
async fn record_halves(courier: &Courier, batch: &[Report], error: &db::Error) -> u64 {
    if let [report] = batch {
        let id = report.result.effect_id;
        tracing::error!(effect.id = %id, %error, "result refused by the database: the effect is tried again after its lease");
        return 0;
    }
    let (left, right) = batch.split_at(batch.len() / 2);
    Box::pin(record(courier, left)).await + Box::pin(record(courier, right)).await
}
