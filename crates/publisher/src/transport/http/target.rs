//! Where a destination is and what signs for it, as of now: both may come from files that change.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use service::{
    LiveSecrets,
    settings::{HeaderSource, HttpSettings},
};
use signature::{Key, standard_webhooks};
use url::Url;

type Secrets = Arc<Vec<SecretString>>;

/// An address, headers, and the keys that sign. Never shown: all hold secrets.
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Empty where calls are not signed.
    pub(super) keys: Vec<Key>,
}

/// Follows the references of one destination. A change that cannot be used is logged, and the last good target stays.
pub(super) struct LiveTarget {
    url: LiveSecrets,
    secrets: LiveSecrets,
    headers: Vec<(HeaderName, LiveHeader)>,
    signs: bool,
    seen: Vec<Secrets>,
    current: Arc<Target>,
}

enum LiveHeader {
    Text(HeaderValue),
    Secret(LiveSecrets),
}

impl LiveTarget {
    /// Reads the references.
    ///
    /// # Errors
    /// When one is not set or cannot be used.
    pub(super) fn resolve(settings: &HttpSettings) -> anyhow::Result<Self> {
        let resolve = |references: &[_]| LiveSecrets::resolve(references).map_err(anyhow::Error::msg);
        let mut headers = Vec::with_capacity(settings.headers.len());
        for (name, source) in &settings.headers {
            let header = match source {
                HeaderSource::Text(text) => LiveHeader::Text(HeaderValue::from_str(text)?),
                HeaderSource::Secret(reference) => {
                    LiveHeader::Secret(resolve(std::slice::from_ref(reference))?)
                }
            };
            headers.push((name.parse()?, header));
        }
        let mut live = Self {
            url: resolve(std::slice::from_ref(&settings.url))?,
            secrets: resolve(&settings.secrets)?,
            headers,
            signs: super::signs(settings),
            seen: Vec::new(),
            current: Arc::new(Target {
                url: Url::parse("http://invalid.")?,
                headers: HeaderMap::new(),
                keys: Vec::new(),
            }),
        };
        live.seen = live.read();
        live.current = Arc::new(live.target().map_err(anyhow::Error::msg)?);
        Ok(live)
    }

    /// The target in force.
    pub(super) fn current(&mut self) -> Arc<Target> {
        let now = self.read();
        if !now.iter().zip(&self.seen).all(|(now, seen)| Arc::ptr_eq(now, seen)) {
            self.seen = now;
            match self.target() {
                Ok(target) => self.current = Arc::new(target),
                Err(reason) => {
                    tracing::error!(reason, "a changed destination is unusable, the last good one stays")
                }
            }
        }
        self.current.clone()
    }

    fn read(&self) -> Vec<Secrets> {
        let headers = self.headers.iter().filter_map(|(_, header)| match header {
            LiveHeader::Secret(live) => Some(live.current()),
            LiveHeader::Text(_) => None,
        });
        [self.url.current(), self.secrets.current()].into_iter().chain(headers).collect()
    }

    /// The reasons never repeat what they are about.
    fn target(&self) -> Result<Target, String> {
        let url = url(&self.url.current())?;
        let keys: Result<Vec<Vec<Key>>, _> =
            self.secrets.current().iter().map(standard_webhooks::signing_keys).collect();
        let keys = keys.map_err(|error| format!("secrets: {error}"))?.concat();
        if keys.is_empty() && self.signs {
            return Err("secrets: none is set".to_owned());
        }
        let mut headers = HeaderMap::new();
        for (name, header) in &self.headers {
            headers.insert(name.clone(), header.value().map_err(|error| format!("headers.{name}: {error}"))?);
        }
        Ok(Target { url, headers, keys })
    }
}

impl LiveHeader {
    fn value(&self) -> Result<HeaderValue, String> {
        match self {
            Self::Text(value) => Ok(value.clone()),
            Self::Secret(live) => {
                let secrets = live.current();
                let text = secrets.first().ok_or("is not set")?;
                let mut value = HeaderValue::from_str(text.expose_secret())
                    .map_err(|_| "has a character that no header can have".to_owned())?;
                value.set_sensitive(true);
                Ok(value)
            }
        }
    }
}

fn url(url: &Secrets) -> Result<Url, String> {
    let text = url.first().ok_or("url: is not set")?;
    let url = Url::parse(text.expose_secret()).map_err(|error| format!("url: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("url: is no http or https address".to_owned());
    }
    Ok(url)
}
