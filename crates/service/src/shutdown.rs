//! The stop: the first SIGTERM or SIGINT asks for it, the second ends the process at once.

use std::{future::Future, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// Tells all parts of a daemon to finish what they have begun and begin nothing new.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    token: CancellationToken,
}

impl Shutdown {
    /// A stop that nobody has asked for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the stop.
    pub fn trigger(&self) {
        self.token.cancel();
    }

    /// Whether the stop was asked for.
    pub fn is_triggered(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until the stop is asked for.
    pub fn triggered(&self) -> WaitForCancellationFuture<'_> {
        self.token.cancelled()
    }

    /// Waits this long, or until the stop is asked for.
    pub async fn sleep(&self, duration: Duration) {
        let _either_way = tokio::time::timeout(duration, self.token.cancelled()).await;
    }

    /// Runs the future unless the stop comes first.
    pub async fn unless_triggered<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.token.cancelled() => None,
            value = future => Some(value),
        }
    }
}

/// Listens for signals from now on.
///
/// # Errors
/// When the handlers cannot be installed.
pub(crate) fn on_signals(shutdown: Shutdown) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let name = next(&mut terminate, &mut interrupt).await;
        tracing::info!(signal = name, "stopping: finishing what was begun; a second signal ends at once");
        shutdown.trigger();
        let name = next(&mut terminate, &mut interrupt).await;
        tracing::warn!(signal = name, "second signal: ending at once");
        std::process::exit(130);
    });
    Ok(())
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
