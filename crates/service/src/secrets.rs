//! Secrets that may change while the daemon runs.

use std::{sync::Arc, time::Duration};

use secrecy::{ExposeSecret, SecretString};
use tokio::sync::watch;

use crate::settings::SecretRef;

/// How often files are read again.
const REREAD_EVERY: Duration = Duration::from_secs(5);

/// The secrets in force of one source or destination: those of its references that are set.
///
/// References to files are read again when they change; a change that cannot be used (missing, empty) is
/// logged and the last good secrets stay in force.
#[derive(Debug, Clone)]
pub struct LiveSecrets {
    current: watch::Receiver<Arc<Vec<SecretString>>>,
}

impl LiveSecrets {
    /// Reads the references once; must run inside a tokio runtime to keep reading files.
    ///
    /// # Errors
    /// The first reference that is set but unusable.
    pub fn resolve(references: &[SecretRef]) -> Result<Self, String> {
        let (sender, current) = watch::channel(Arc::new(read(references)?));
        if references.iter().any(SecretRef::can_change) && tokio::runtime::Handle::try_current().is_ok() {
            tokio::spawn(keep_reading(references.to_vec(), sender));
        }
        Ok(Self { current })
    }

    /// The secrets in force, in the order of their references.
    pub fn current(&self) -> Arc<Vec<SecretString>> {
        self.current.borrow().clone()
    }

    /// A handle that tells when they changed.
    pub fn watch(&self) -> watch::Receiver<Arc<Vec<SecretString>>> {
        self.current.clone()
    }
}

fn read(references: &[SecretRef]) -> Result<Vec<SecretString>, String> {
    let resolved: Result<Vec<_>, String> = references.iter().map(SecretRef::resolve).collect();
    Ok(resolved?.into_iter().flatten().collect())
}

async fn keep_reading(references: Vec<SecretRef>, sender: watch::Sender<Arc<Vec<SecretString>>>) {
    loop {
        tokio::time::sleep(REREAD_EVERY).await;
        if sender.is_closed() {
            return;
        }
        match read(&references) {
            Ok(fresh) if fresh.is_empty() => {
                tracing::warn!("secret files are gone, the last good secrets stay in force");
            }
            Ok(fresh) => {
                let changed = sender.send_if_modified(|current| {
                    let same = current.len() == fresh.len()
                        && current.iter().zip(&fresh).all(|(a, b)| a.expose_secret() == b.expose_secret());
                    if !same {
                        *current = Arc::new(fresh);
                    }
                    !same
                });
                if changed {
                    tracing::info!("secrets changed and are in force");
                }
            }
            Err(reason) => {
                tracing::warn!(reason, "a changed secret is unusable, the last good ones stay in force")
            }
        }
    }
}
