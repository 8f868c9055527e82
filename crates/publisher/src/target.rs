//! Where a destination is and what signs for it, as of now: both may come from files that change.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use service::{LiveSecrets, settings::DestinationSettings};
use signature::{Key, standard_webhooks};
use url::Url;

type Secrets = Arc<Vec<SecretString>>;

/// An address and the keys that sign. Never shown: both hold secrets.
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) keys: Vec<Key>,
}

/// Follows the references of one destination. A change that cannot be used is logged, and the last good target stays.
pub(crate) struct LiveTarget {
    url: LiveSecrets,
    secrets: LiveSecrets,
    seen: (Secrets, Secrets),
    current: Arc<Target>,
}

impl LiveTarget {
    /// Reads the references.
    ///
    /// # Errors
    /// When one is not set or cannot be used.
    pub(crate) fn resolve(settings: &DestinationSettings) -> anyhow::Result<Self> {
        let resolve = |references: &[_]| LiveSecrets::resolve(references).map_err(anyhow::Error::msg);
        let url = resolve(std::slice::from_ref(&settings.url))?;
        let secrets = resolve(&settings.secrets)?;
        let seen = (url.current(), secrets.current());
        let current = Arc::new(target(&seen.0, &seen.1).map_err(anyhow::Error::msg)?);
        Ok(Self { url, secrets, seen, current })
    }

    /// The target in force.
    pub(crate) fn current(&mut self) -> Arc<Target> {
        let now = (self.url.current(), self.secrets.current());
        if !Arc::ptr_eq(&now.0, &self.seen.0) || !Arc::ptr_eq(&now.1, &self.seen.1) {
            match target(&now.0, &now.1) {
                Ok(target) => self.current = Arc::new(target),
                Err(reason) => {
                    tracing::error!(reason, "a changed destination is unusable, the last good one stays")
                }
            }
            self.seen = now;
        }
        self.current.clone()
    }
}

/// The reasons never repeat what they are about.
fn target(url: &Secrets, secrets: &Secrets) -> Result<Target, String> {
    let text = url.first().ok_or("url: is not set")?;
    let url = Url::parse(text.expose_secret()).map_err(|error| format!("url: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("url: is no http or https address".to_owned());
    }
    let keys: Result<Vec<Vec<Key>>, _> = secrets.iter().map(standard_webhooks::signing_keys).collect();
    let keys = keys.map_err(|error| format!("secrets: {error}"))?.concat();
    if keys.is_empty() {
        return Err("secrets: none is set".to_owned());
    }
    Ok(Target { url, keys })
}
