//! A secret, ready to verify with: the keyed hash state is derived once and cloned for each message.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use crate::digest::{Algorithm, BASE64};

/// How the key's bytes are written in the secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeyForm {
    /// The secret's text is the key, to the last character.
    #[default]
    Text,
    /// The secret is the key in hexadecimal.
    Hex,
    /// The secret is the key in base64.
    Base64,
    /// The secret is a public key or a certificate in PEM.
    Pem,
}

/// Why a secret cannot be used. A source with such a secret must not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Anybody could sign with an empty key.
    #[error("the secret is empty or blank")]
    Blank,
    /// The secret is not written in the form that the profile says.
    #[error("the secret is not valid {0}")]
    Encoding(&'static str),
    /// The secret does not start as the profile says.
    #[error("the secret does not start with {0:?}")]
    Prefix(String),
    /// A user and a password are needed.
    #[error("the secret is not written as user:password")]
    UserAndPassword,
}

/// One live secret of a source. Never shows the secret.
#[derive(Clone)]
pub struct Key {
    state: State,
    /// Not tried after this second.
    until: Option<i64>,
    /// The named list it belongs to; none: the source's usual secrets.
    group: Option<String>,
}

// The states are large and few: a key lives as long as its source, so boxing would only add a hop per message.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "few, long-lived values read for every request")]
enum State {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Hmac<Sha512>),
    /// The secret itself: tokens, passwords, and digests that contain it.
    Text(SecretString),
    /// A public key: 32 bytes of Ed25519, or the DER of an RSA key.
    Public(Vec<u8>),
    /// One key for each check of a composed scheme; none where the secret is not written in that check's form.
    Each(Vec<Option<Key>>),
}

impl Key {
    fn of(state: State) -> Self {
        Self { state, until: None, group: None }
    }

    /// The same key, not tried after this second since 1970.
    #[must_use]
    pub fn until(mut self, unix_seconds: Option<i64>) -> Self {
        self.until = unix_seconds;
        self
    }

    /// The same key as one of the named list `group`: only checks that name this list try it.
    #[must_use]
    pub fn in_group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// Whether it may be tried at this second by a check that asks for this list.
    pub(crate) fn counts(&self, now: i64, group: Option<&str>) -> bool {
        self.group.as_deref() == group && self.until.is_none_or(|until| now <= until)
    }

    /// A key whose secret is compared or hashed as it stands.
    ///
    /// # Errors
    /// The secret is empty or blank.
    pub(crate) fn text(secret: &SecretString) -> Result<Self, KeyError> {
        if secret.expose_secret().trim().is_empty() {
            return Err(KeyError::Blank);
        }
        Ok(Self::of(State::Text(secret.clone())))
    }

    pub(crate) fn public(bytes: Vec<u8>) -> Self {
        Self::of(State::Public(bytes))
    }

    pub(crate) fn each(keys: Vec<Option<Key>>) -> Self {
        Self::of(State::Each(keys))
    }

    /// The part of a composed scheme's key that belongs to one check, with this key's end and list.
    pub(crate) fn part(&self, check: usize) -> Option<Key> {
        let State::Each(keys) = &self.state else { return None };
        let mut key = keys.get(check)?.clone()?;
        key.until = self.until;
        key.group.clone_from(&self.group);
        Some(key)
    }

    pub(crate) fn secret(&self) -> &[u8] {
        match &self.state {
            State::Text(secret) => secret.expose_secret().as_bytes(),
            _ => b"",
        }
    }

    pub(crate) fn public_bytes(&self) -> &[u8] {
        match &self.state {
            State::Public(bytes) => bytes,
            _ => b"",
        }
    }

    /// Whether only the other side can sign with it.
    pub(crate) fn is_public(&self) -> bool {
        matches!(self.state, State::Public(_))
    }

    /// Derives the keyed state from a secret.
    ///
    /// # Errors
    /// The secret is empty or blank, or is not written in `form`.
    pub fn new(algorithm: Algorithm, form: KeyForm, secret: &SecretString) -> Result<Self, KeyError> {
        let text = secret.expose_secret();
        if text.trim().is_empty() {
            return Err(KeyError::Blank);
        }
        match form {
            KeyForm::Text => Self::from_bytes(algorithm, text.as_bytes()),
            KeyForm::Hex => {
                let bytes = hex::decode(text.trim()).map_err(|_| KeyError::Encoding("hexadecimal"))?;
                Self::from_bytes(algorithm, &bytes)
            }
            KeyForm::Base64 => {
                use base64::Engine as _;
                let bytes = BASE64.decode(text.trim()).map_err(|_| KeyError::Encoding("base64"))?;
                Self::from_bytes(algorithm, &bytes)
            }
            KeyForm::Pem => Err(KeyError::Encoding("key for a keyed hash: PEM holds public keys")),
        }
    }

    /// Derives the keyed state from the key's bytes.
    pub(crate) fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.is_empty() {
            return Err(KeyError::Blank);
        }
        // HMAC takes a key of any length, so the error arm is never taken; it is mapped rather than unwrapped.
        let state = match algorithm {
            Algorithm::HmacSha1 => Hmac::new_from_slice(bytes).map(State::Sha1),
            Algorithm::HmacSha256 => Hmac::new_from_slice(bytes).map(State::Sha256),
            Algorithm::HmacSha512 => Hmac::new_from_slice(bytes).map(State::Sha512),
        };
        state.map(Self::of).map_err(|_| KeyError::Blank)
    }

    /// Whether `digest` is the digest of the parts in their order; takes the same time wherever they differ.
    pub(crate) fn matches(&self, parts: &[&[u8]], digest: &[u8]) -> bool {
        match &self.state {
            State::Sha1(mac) => feed(mac, parts).verify_slice(digest).is_ok(),
            State::Sha256(mac) => feed(mac, parts).verify_slice(digest).is_ok(),
            State::Sha512(mac) => feed(mac, parts).verify_slice(digest).is_ok(),
            State::Text(_) | State::Public(_) | State::Each(_) => false,
        }
    }

    /// The digest of the parts in their order.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Vec<u8> {
        match &self.state {
            State::Sha1(mac) => feed(mac, parts).finalize().into_bytes().to_vec(),
            State::Sha256(mac) => feed(mac, parts).finalize().into_bytes().to_vec(),
            State::Sha512(mac) => feed(mac, parts).finalize().into_bytes().to_vec(),
            State::Text(_) | State::Public(_) | State::Each(_) => Vec::new(),
        }
    }
}

/// A copy of the keyed state that has taken in all parts.
fn feed<M: hmac::Mac + Clone>(keyed: &M, parts: &[&[u8]]) -> M {
    let mut mac = keyed.clone();
    for part in parts {
        mac.update(part);
    }
    mac
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(redacted)")
    }
}
