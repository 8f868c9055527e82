//! What to do while the database is away: wait for it and do the same work again.

use std::time::Duration;

use service::Shutdown;

const AGAIN_MAX: u32 = 5;
const WAIT: Duration = Duration::from_millis(200);
const WAIT_MAX: Duration = Duration::from_secs(10);

/// The patience with which one piece of work is done.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    source: &'a str,
    shutdown: &'a Shutdown,
    wait: Duration,
    again: u32,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(source: &'a str, shutdown: &'a Shutdown) -> Self {
        Self { source, shutdown, wait: WAIT, again: 0 }
    }

    /// Waits as long as this error asks for; false when the stop comes meanwhile.
    ///
    /// # Errors
    /// The error itself, when doing the same again brings the same.
    pub(crate) async fn bear(&mut self, error: db::Error) -> db::Result<bool> {
        match error {
            error if error.is_unavailable() => {
                tracing::warn!(source = self.source, %error, "database away, waiting for it");
                self.shutdown.sleep(self.wait).await;
                self.wait = (self.wait * 2).min(WAIT_MAX);
            }
            db::Error::Retry(_) if self.again < AGAIN_MAX => self.again += 1,
            error => return Err(error),
        }
        Ok(!self.shutdown.is_triggered())
    }
}
