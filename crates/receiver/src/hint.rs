//! Tells appliers that there is work: after the commit, outside it, and at most twenty times a second.

use std::{sync::Arc, time::Duration};

use db::{Channel, Pool};
use service::Shutdown;
use tokio::sync::Notify;

const PAUSE: Duration = Duration::from_millis(50);

/// A hint that can be given from any worker and costs nothing.
#[derive(Clone)]
pub(crate) struct Hint {
    given: Arc<Notify>,
}

impl Hint {
    /// Starts the task that passes hints on.
    pub(crate) fn start(pool: Pool, shutdown: Shutdown) -> Self {
        let given = Arc::new(Notify::new());
        let hint = Self { given: given.clone() };
        tokio::spawn(async move {
            while shutdown.unless_triggered(given.notified()).await.is_some() {
                // A hint that is lost costs the applier one poll.
                if let Ok(client) = pool.get().await
                    && let Err(error) = Channel::Inbox.notify(&client).await
                {
                    tracing::debug!(%error, "hint to the appliers lost");
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        hint
    }

    /// Says that something was stored.
    pub(crate) fn give(&self) {
        self.given.notify_one();
    }
}
