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
#[serde(rename_all = "lowercase")]
pub enum KeyForm {
    /// The secret's text is the key, to the last character.
    #[default]
    Text,
    /// The secret is the key in hexadecimal.
    Hex,
    /// The secret is the key in base64.
    Base64,
}

/// Why a secret cannot be used. A source with such a secret must not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Anybody could sign with an empty key.
    #[error("the secret is empty or blank")]
    Blank,
    /// The secret is not written in the form that the profile says.
    #[error("the secret is not valid {0}")]
    Encoding(&'static str),
}

/// One live secret of a source. Never shows the secret.
#[derive(Clone)]
pub struct Key {
    state: State,
}

// The states are large and few: a key lives as long as its source, so boxing would only add a hop per message.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "few, long-lived values read for every request")]
enum State {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Hmac<Sha512>),
}

impl Key {
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
        }
    }

    /// Derives the keyed state from the key's bytes.
    fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.is_empty() {
            return Err(KeyError::Blank);
        }
        // HMAC takes a key of any length, so the error arm is never taken; it is mapped rather than unwrapped.
        let state = match algorithm {
            Algorithm::HmacSha1 => Hmac::new_from_slice(bytes).map(State::Sha1),
            Algorithm::HmacSha256 => Hmac::new_from_slice(bytes).map(State::Sha256),
            Algorithm::HmacSha512 => Hmac::new_from_slice(bytes).map(State::Sha512),
        };
        state.map(|state| Self { state }).map_err(|_| KeyError::Blank)
    }

    /// Whether `digest` is the digest of the parts in their order; takes the same time wherever they differ.
    pub(crate) fn matches(&self, parts: &[&[u8]], digest: &[u8]) -> bool {
        match &self.state {
            State::Sha1(mac) => feed(mac, parts).verify_slice(digest).is_ok(),
            State::Sha256(mac) => feed(mac, parts).verify_slice(digest).is_ok(),
            State::Sha512(mac) => feed(mac, parts).verify_slice(digest).is_ok(),
        }
    }

    /// The digest of the parts in their order.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Vec<u8> {
        match &self.state {
            State::Sha1(mac) => feed(mac, parts).finalize().into_bytes().to_vec(),
            State::Sha256(mac) => feed(mac, parts).finalize().into_bytes().to_vec(),
            State::Sha512(mac) => feed(mac, parts).finalize().into_bytes().to_vec(),
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
