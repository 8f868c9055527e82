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
    current: watch::Receiver<Live>,
}

/// The secrets that are set, and the place of each among the references.
#[derive(Debug, Clone, Default)]
struct Live {
    secrets: Arc<Vec<SecretString>>,
    places: Arc<[usize]>,
}

impl LiveSecrets {
    /// Reads the references once; must run inside a tokio runtime to keep reading files.
    ///
    /// # Errors
    /// The first reference that is set but unusable.
    pub fn resolve(references: &[SecretRef]) -> Result<Self, String> {
        let (sender, current) = watch::channel(read(references)?);
        if references.iter().any(SecretRef::can_change) && tokio::runtime::Handle::try_current().is_ok() {
            tokio::spawn(keep_reading(references.to_vec(), sender));
        }
        Ok(Self { current })
    }

    /// The secrets in force, in the order of their references.
    pub fn current(&self) -> Arc<Vec<SecretString>> {
        self.current.borrow().secrets.clone()
    }

    /// The secrets in force, each with the place of its reference.
    pub fn placed(&self) -> Vec<(usize, SecretString)> {
        let live = self.current.borrow().clone();
        live.places.iter().copied().zip(live.secrets.iter().cloned()).collect()
    }

    /// Waits until they change; false when they never will again.
    pub async fn changed(&mut self) -> bool {
        self.current.changed().await.is_ok()
    }
}

fn read(references: &[SecretRef]) -> Result<Live, String> {
    let resolved: Vec<_> = references.iter().map(SecretRef::resolve).collect::<Result<_, _>>()?;
    let set = resolved.into_iter().enumerate().filter_map(|(place, secret)| Some((place, secret?)));
    let (places, secrets): (Vec<usize>, Vec<SecretString>) = set.unzip();
    Ok(Live { secrets: Arc::new(secrets), places: places.into() })
}

impl Live {
    fn is_same(&self, other: &Self) -> bool {
        let pairs = self.secrets.iter().zip(other.secrets.iter());
        self.places == other.places && pairs.into_iter().all(|(a, b)| a.expose_secret() == b.expose_secret())
    }
}

async fn keep_reading(references: Vec<SecretRef>, sender: watch::Sender<Live>) {
    loop {
        tokio::time::sleep(REREAD_EVERY).await;
        if sender.is_closed() {
            return;
        }
        match read(&references) {
            Ok(fresh) if fresh.secrets.is_empty() => {
                tracing::warn!("secret files are gone, the last good secrets stay in force");
            }
            Ok(fresh) => {
                let changed = sender.send_if_modified(|current| {
                    let same = current.is_same(&fresh);
                    if !same {
                        *current = fresh;
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
