//! The sources that are on, each with its profile, its live keys and its counters.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use metrics::{Counter, counter};
use profile::{Envelope, Profile};
use service::{Keys, SourceKeys, metrics as names, settings::Configured};
use signature::{Refusal, Request};

/// One source, ready to verify.
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) profile: Arc<Profile>,
    /// The address as registered with the provider.
    pub(crate) public_url: String,
    /// What the profile leaves to the source.
    pub(crate) constants: Vec<(String, String)>,
    /// Whether each event carries its own signature.
    pub(crate) verifies_items: bool,
    keys: RwLock<Arc<Keys>>,
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
        let secrets = SourceKeys::resolve(&configured.settings).map_err(anyhow::Error::msg)?;
        let keys = secrets.keys(&configured.profile)?;
        let source = Arc::new(Source {
            counters: Counters::of(name, configured.profile.answers().success, secrets.labels()),
            name: name.as_str().into(),
            profile: configured.profile.clone(),
            public_url: configured.settings.public_url.clone().unwrap_or_default(),
            constants: configured.settings.constants.clone().into_iter().collect(),
            verifies_items: configured.profile.scheme().verifies_items(),
            keys: RwLock::new(Arc::new(keys)),
        });
        tokio::spawn(follow(source.clone(), secrets));
        sources.insert(name.clone(), source);
    }
    Ok(sources)
}

/// Takes over changed secrets until the process ends.
async fn follow(source: Arc<Source>, mut secrets: SourceKeys) {
    while secrets.changed().await {
        match secrets.keys(&source.profile) {
            Ok(fresh) => *source.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh),
            Err(error) => {
                tracing::warn!(source = %source.name, %error, "a changed secret is unusable, the old keys stay");
            }
        }
    }
}

impl Source {
    /// Verifies a request against every live key and counts which one matched.
    pub(crate) fn verify(&self, request: &Request<'_>) -> Result<(), Refusal> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        let place = self.matching(request, &keys)?;
        self.count_match(place);
        Ok(())
    }

    /// Verifies each event of a request by the signature that it carries: one refusal refuses them all. The request
    /// counts once, by the secret of its last event.
    pub(crate) fn verify_items(&self, request: &Request<'_>, items: &[Envelope<'_>]) -> Result<(), Refusal> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        // Without any there would be nothing that was verified.
        let mut place = Err(Refusal::Malformed);
        for item in items {
            place = Ok(self.matching(&Request { body: &item.body, ..*request }, &keys)?);
        }
        self.count_match(place?);
        Ok(())
    }

    /// The place of the secret that signed; nothing where the profile's requests are not signed.
    fn matching(&self, request: &Request<'_>, keys: &Keys) -> Result<Option<usize>, Refusal> {
        let verified = self.profile.scheme().verify(request, &keys.keys)?;
        Ok(keys.places.get(verified.key_index).copied().filter(|_| !self.profile.scheme().is_unsigned()))
    }

    fn count_match(&self, place: Option<usize>) {
        if let Some(counter) = place.and_then(|place| self.counters.verified.get(place)) {
            counter.increment(1);
        }
    }

    /// Counts a refusal by its reason.
    pub(crate) fn count_refusal(&self, refusal: Refusal) {
        counter!(names::RECEIVER_REFUSED, "source" => self.name.to_string(), "reason" => refusal.as_str())
            .increment(1);
    }
}

impl Counters {
    fn of<'a>(source: &str, success: u16, secrets: impl Iterator<Item = &'a str>) -> Self {
        let source = source.to_owned();
        let duplicates = |body: &'static str| counter!(names::RECEIVER_DUPLICATES, "source" => source.clone(), "body" => body);
        Self {
            stored_answers: counter!(names::RECEIVER_REQUESTS, "source" => source.clone(), "status" => success.to_string()),
            events_stored: counter!(names::RECEIVER_STORED, "source" => source.clone()),
            duplicates_same: duplicates("same"),
            duplicates_different: duplicates("different"),
            duplicates_unknown: duplicates("unknown"),
            verified: secrets
                .map(|secret| {
                    counter!(names::RECEIVER_VERIFIED, "source" => source.clone(), "secret" => secret.to_owned())
                })
                .collect(),
        }
    }
}
