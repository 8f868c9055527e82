//! A source whose provider has an API that we can read.

use std::{fmt, sync::Arc, time::Duration};

use db::Pool;
use domain::Clock;
use jiff::Timestamp;
use profile::{Api, Profile};
use secrecy::ExposeSecret;
use service::{
    AddressGuard, LiveSecrets, Shutdown,
    outbound::{self, CallError},
    settings::{Configured, ReconcilerSettings, SecretRef},
};
use url::Url;

use crate::{lag::Lag, login::Fetched, pace::Pace, provider::Provider};

/// What a reader works with.
#[derive(Clone)]
pub struct Parts {
    /// The configuration, checked.
    pub configured: Arc<Configured>,
    /// Connections to the database.
    pub pool: Pool,
    /// Where now comes from.
    pub clock: Arc<dyn Clock>,
    /// Tells when to stop.
    pub shutdown: Shutdown,
}

/// Reads the API of one source into the inbox.
pub struct SourceReader {
    pub(crate) name: String,
    pub(crate) profile: Arc<Profile>,
    pub(crate) api: Api,
    pub(crate) provider: Provider,
    /// The address as registered with the provider.
    pub(crate) public_url: Option<String>,
    /// Whether a disabled subscription is switched on again.
    pub(crate) reenable: bool,
    pub(crate) parts: Parts,
    pub(crate) lag: Lag,
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not meant to be: its profile or its settings lack what that needs.
    #[error("{0}")]
    Off(String),
    /// What is set cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] CallError),
}

impl SourceReader {
    /// Makes the reader of a source; must run inside a tokio runtime. Nothing is called yet.
    ///
    /// # Errors
    /// When the source has no API that can be read, or the API has no list.
    pub fn open(name: &str, parts: Parts) -> Result<Self, OpenError> {
        let reader = Self::open_for_lookups(name, parts)?;
        match reader.api.lists.is_empty() {
            false => Ok(reader),
            true => Err(OpenError::Off("its profile describes no list of the provider's API".to_owned())),
        }
    }

    /// Whether there is anything to read in rounds.
    pub fn has_rounds(&self) -> bool {
        !self.api.lists.is_empty() || self.api.reread.is_some() || self.profile.watch().is_some()
    }

    /// As [`SourceReader::open`], for single look-ups alone: those need no list.
    ///
    /// # Errors
    /// When the source has no API that can be read.
    pub fn open_for_lookups(name: &str, parts: Parts) -> Result<Self, OpenError> {
        let configured = &parts.configured;
        let profile = configured.profiles.get(name);
        let profile = profile.ok_or_else(|| OpenError::Unusable(format!("there is no source \"{name}\"")))?;
        let Some(api) = profile.api() else {
            return Err(OpenError::Off("its profile says nothing about the provider's API".to_owned()));
        };
        let written = configured.settings.sources.get(name);
        let url = Setting::read("api_url", written.and_then(|source| source.api_url.as_ref()))?;
        let token = Setting::read("api_token", written.and_then(|source| source.api_token.as_ref()))?;
        let user = match written.and_then(|source| source.api_user.as_ref()) {
            Some(user) if api.auth.needs_user() => Some(Setting::read("api_user", Some(user))?.secrets),
            None if api.auth.needs_user() => return Err(OpenError::Off("api_user is not set".to_owned())),
            Some(_) | None => None,
        };
        let settings = &configured.settings.reconciler;
        let provider = Provider {
            source: name.to_owned(),
            client: client(settings)?,
            base: url.base()?,
            token: token.secrets,
            token_name: token.name,
            user,
            constants: written
                .map(|source| source.constants.clone().into_iter().collect())
                .unwrap_or_default(),
            response_bytes_max: settings.response_bytes_max,
            wait_max: settings.retry_after_max.get(),
            fetched: Fetched::default(),
            pace: Pace::default(),
        };
        let usual = settings.every.get();
        let paces: Vec<_> = api.lists.iter().map(|list| list.every.unwrap_or(usual)).collect();
        let lag = Lag::new(name, &paces, usual);
        Ok(Self {
            name: name.to_owned(),
            profile: Arc::clone(profile),
            api: api.clone(),
            provider,
            public_url: written
                .and_then(|source| source.public_url.clone())
                .filter(|url| !url.trim().is_empty()),
            reenable: written.is_some_and(|source| source.reenable),
            lag,
            parts,
        })
    }

    /// The source's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn settings(&self) -> &ReconcilerSettings {
        &self.parts.configured.settings.reconciler
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}

impl fmt::Debug for SourceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceReader").field("name", &self.name).finish_non_exhaustive()
    }
}

/// This long before an instant.
pub(crate) fn before(instant: Timestamp, length: Duration) -> Timestamp {
    // Only spans of months and the like cannot be subtracted.
    instant.saturating_sub(length).unwrap_or(Timestamp::MIN)
}

fn client(settings: &ReconcilerSettings) -> Result<outbound::Client, CallError> {
    outbound::client(outbound::Options {
        user_agent: concat!("ordem-reconciler/", env!("CARGO_PKG_VERSION")).to_owned(),
        guard: AddressGuard::new(settings.allow_addresses.0.clone()),
        connect_timeout: settings.connect_timeout.get(),
        request_timeout: settings.request_timeout.get(),
    })
}

/// A setting that refers to a secret, and is set.
struct Setting {
    name: String,
    secrets: LiveSecrets,
}

impl Setting {
    fn read(key: &str, reference: Option<&SecretRef>) -> Result<Self, OpenError> {
        let Some(reference) = reference else { return Err(OpenError::Off(format!("{key} is not set"))) };
        let secrets = LiveSecrets::resolve(std::slice::from_ref(reference))
            .map_err(|reason| OpenError::Unusable(format!("{key}: {reason}")))?;
        if secrets.current().is_empty() {
            return Err(OpenError::Off(format!("{key}: {reference} is not set")));
        }
        Ok(Self { name: reference.to_string(), secrets })
    }

    /// The secret as the base of an API's addresses. Its text is never repeated: it may hold a password.
    fn base(&self) -> Result<Url, OpenError> {
        let current = self.secrets.current();
        let text = current.first().map(|text| text.expose_secret().trim()).unwrap_or_default();
        Url::parse(text)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
            .ok_or_else(|| OpenError::Unusable(format!("api_url: {} is no http or https address", self.name)))
    }
}
