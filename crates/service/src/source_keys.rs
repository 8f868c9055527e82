//! The keys of one source: those of its usual secrets and of the lists that checks of its profile name.

use jiff::Timestamp;
use profile::Profile;
use signature::{Key, Scheme};

use crate::{
    LiveSecrets,
    settings::{DatedSecret, SourceSettings},
};

/// A source's secrets, ready to be made into keys as often as they change.
#[derive(Debug, Clone)]
pub struct SourceKeys {
    entries: Vec<Entry>,
    secrets: LiveSecrets,
}

#[derive(Debug, Clone)]
struct Entry {
    label: String,
    group: Option<String>,
    until: Option<Timestamp>,
}

/// The keys in force.
#[derive(Debug, Default)]
pub struct Keys {
    /// To verify with.
    pub keys: Vec<Key>,
    /// The place of each key among the source's labels.
    pub places: Vec<usize>,
}

impl SourceKeys {
    /// Reads the secrets once; inside a tokio runtime files are read again when they change.
    ///
    /// # Errors
    /// The first secret that is set but unusable.
    pub fn resolve(settings: &SourceSettings) -> Result<Self, String> {
        let entry = |label: String, group: Option<&String>, secret: &DatedSecret| Entry {
            label,
            group: group.cloned(),
            until: secret.until,
        };
        let usual = settings.secrets.iter().enumerate();
        let mut entries: Vec<_> = usual.map(|(at, secret)| entry(at.to_string(), None, secret)).collect();
        for (group, secrets) in &settings.more_secrets {
            let list = secrets.iter().enumerate();
            entries.extend(list.map(|(at, secret)| entry(format!("{group}.{at}"), Some(group), secret)));
        }
        let more = settings.more_secrets.values().flatten();
        let references: Vec<_> =
            settings.secrets.iter().chain(more).map(|secret| secret.from.clone()).collect();
        Ok(Self { entries, secrets: LiveSecrets::resolve(&references)? })
    }

    /// What to call each secret where people read it: its place in its list, after the list's name if it has one.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.label.as_str())
    }

    /// The keys in force now. A key whose end has come stays among them: verifying asks for the time.
    ///
    /// # Errors
    /// A secret is not written as the profile says.
    pub fn keys(&self, profile: &Profile) -> Result<Keys, signature::KeyError> {
        let mut keys = Keys::default();
        for (place, secret) in self.secrets.placed() {
            let Some(entry) = self.entries.get(place) else { continue };
            let key = key(profile.scheme(), entry.group.as_deref(), &secret)?;
            keys.keys.push(key.until(entry.until.map(Timestamp::as_second)));
            keys.places.push(place);
        }
        Ok(keys)
    }

    /// Waits until a secret changes; false when none ever will again.
    pub async fn changed(&mut self) -> bool {
        self.secrets.changed().await
    }
}

/// A key of a scheme, in its list.
pub(crate) fn key(
    scheme: &Scheme,
    group: Option<&str>,
    secret: &secrecy::SecretString,
) -> Result<Key, signature::KeyError> {
    match group {
        None => scheme.key(secret),
        Some(group) => scheme.group_key(group, secret),
    }
}
