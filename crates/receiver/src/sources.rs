//! The sources that are on, each with its profile, its live keys and its counters.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use metrics::{Counter, counter};
use profile::Profile;
use service::{
    LiveSecrets, metrics as names,
    settings::{Configured, SourceSettings},
};
use signature::{Key, Refusal, Request, Verified};

/// One source, ready to verify.
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) profile: Arc<Profile>,
    /// The address as registered with the provider.
    pub(crate) public_url: String,
    /// What the profile leaves to the source.
    pub(crate) constants: Vec<(String, String)>,
    keys: RwLock<Arc<Vec<Key>>>,
    pub(crate) counters: Counters,
}

/// Counters of a source, looked up once.
pub(crate) struct Counters {
    pub(crate) stored_answers: Counter,
    pub(crate) events_stored: Counter,
    pub(crate) duplicates_same: Counter,
    pub(crate) duplicates_different: Counter,
    pub(crate) duplicates_unknown: Counter,
    verified: Vec<Counter>,
}

/// All sources that are on, by name.
pub(crate) type Sources = HashMap<String, Arc<Source>>;

/// Builds the sources and keeps their keys fresh in the background.
///
/// # Errors
/// When a secret cannot be used.
pub(crate) fn sources(configured: &Configured) -> anyhow::Result<Sources> {
    let mut sources = Sources::new();
    for (name, configured) in &configured.sources {
        let secrets = LiveSecrets::resolve(&configured.settings.secrets).map_err(anyhow::Error::msg)?;
        let more = more_keys(&configured.profile, &configured.settings)?;
        let mut keys = keys(&configured.profile, &secrets)?;
        keys.extend(more.iter().cloned());
        let source = Arc::new(Source {
            counters: Counters::of(
                name,
                configured.profile.answers().success,
                configured.settings.secrets.len(),
            ),
            name: name.as_str().into(),
            profile: configured.profile.clone(),
            public_url: configured.settings.public_url.clone().unwrap_or_default(),
            constants: configured.settings.constants.clone().into_iter().collect(),
            keys: RwLock::new(Arc::new(keys)),
        });
        tokio::spawn(follow(source.clone(), secrets, more));
        sources.insert(name.clone(), source);
    }
    Ok(sources)
}

fn keys(profile: &Profile, secrets: &LiveSecrets) -> anyhow::Result<Vec<Key>> {
    Ok(secrets.current().iter().map(|secret| profile.scheme().key(secret)).collect::<Result<_, _>>()?)
}

/// The keys of the lists that checks name; read once.
fn more_keys(profile: &Profile, settings: &SourceSettings) -> anyhow::Result<Vec<Key>> {
    let mut keys = Vec::new();
    for (group, references) in &settings.more_secrets {
        for reference in references {
            if let Some(secret) = reference.resolve().map_err(anyhow::Error::msg)? {
                keys.push(profile.scheme().key(&secret)?.in_group(group));
            }
        }
    }
    Ok(keys)
}

/// Takes over changed secrets until the process ends.
async fn follow(source: Arc<Source>, secrets: LiveSecrets, more: Vec<Key>) {
    let mut changes = secrets.watch();
    while changes.changed().await.is_ok() {
        match keys(&source.profile, &secrets) {
            Ok(mut fresh) => {
                fresh.extend(more.iter().cloned());
                *source.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh);
            }
            Err(error) => {
                tracing::warn!(source = %source.name, %error, "a changed secret is unusable, the old keys stay");
            }
        }
    }
}

impl Source {
    /// Verifies a request against every live key and counts which one matched.
    pub(crate) fn verify(&self, request: &Request<'_>) -> Result<Verified, Refusal> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        let verified = self.profile.scheme().verify(request, &keys)?;
        if let Some(counter) = self.counters.verified.get(verified.key_index) {
            counter.increment(1);
        }
        Ok(verified)
    }

    /// Counts a refusal by its reason.
    pub(crate) fn count_refusal(&self, refusal: Refusal) {
        counter!(names::RECEIVER_REFUSED, "source" => self.name.to_string(), "reason" => refusal.as_str())
            .increment(1);
    }
}

impl Counters {
    fn of(source: &str, success: u16, secrets: usize) -> Self {
        let source = source.to_owned();
        let duplicates = |body: &'static str| counter!(names::RECEIVER_DUPLICATES, "source" => source.clone(), "body" => body);
        Self {
            stored_answers: counter!(names::RECEIVER_REQUESTS, "source" => source.clone(), "status" => success.to_string()),
            events_stored: counter!(names::RECEIVER_STORED, "source" => source.clone()),
            duplicates_same: duplicates("same"),
            duplicates_different: duplicates("different"),
            duplicates_unknown: duplicates("unknown"),
            verified: (0..secrets)
                .map(|place| {
                    counter!(names::RECEIVER_VERIFIED, "source" => source.clone(), "secret" => place.to_string())
                })
                .collect(),
        }
    }
}
