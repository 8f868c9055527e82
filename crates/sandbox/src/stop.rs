//! Being asked to stop.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Returns when the process is asked to stop: Ctrl-C or SIGTERM.
///
/// # Errors
/// When the signals cannot be listened to.
pub async fn asked() -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
