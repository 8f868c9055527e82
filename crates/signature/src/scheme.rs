//! How one provider signs, compiled from its profile.

use secrecy::SecretString;
use serde::Deserialize;

use crate::hmac_scheme::{HmacScheme, HmacSpec};
use crate::key::{Key, KeyError};
use crate::standard_webhooks::{self, StandardScheme, StandardSpec};
use crate::{Headers, Refusal};

/// The `[verify]` table of a profile, by its `kind`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SchemeSpec {
    /// A keyed hash of the raw body in one header.
    Hmac(HmacSpec),
    /// Standard Webhooks: id, time and body, several signatures in one header.
    StandardWebhooks(StandardSpec),
}

/// Why a `[verify]` table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// The text cannot be the name of a header.
    #[error("{0:?} is not a header name")]
    HeaderName(String),
    /// The prefix has blanks, commas or letters outside ASCII.
    #[error("prefix {0:?} has a blank, a comma or a letter outside ASCII")]
    Prefix(String),
    /// The tolerance is not positive.
    #[error("tolerance_seconds must be at least 1")]
    Tolerance,
}

/// Why a message cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The id would not survive as a header value, or could run into the signed time.
    #[error("message id {0:?} is empty, too long, or has a dot, a blank or a letter outside ASCII")]
    Id(String),
}

/// A request as it came, before anything in it is believed.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The request's headers.
    pub headers: &'a dyn Headers,
    /// The bytes of the body as they came over the wire.
    pub body: &'a [u8],
    /// The receiver's time, in seconds since 1970; only schemes that sign a time look at it.
    pub now: i64,
}

/// A message to sign.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The message's id; only schemes that sign an id use it.
    pub id: &'a str,
    /// The time of signing, in seconds since 1970; only schemes that sign a time use it.
    pub unix_seconds: i64,
    /// The body's bytes.
    pub body: &'a [u8],
}

/// The request was signed with one of the live secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Which of the given keys matched (the first, if several do).
    pub key_index: usize,
}

/// How one provider signs: verifies and signs.
#[derive(Clone, Debug)]
pub struct Scheme(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Hmac(HmacScheme),
    Standard(StandardScheme),
}

impl Scheme {
    /// Checks and compiles a profile's `[verify]` table.
    ///
    /// # Errors
    /// A header name or prefix that cannot be sent, or a tolerance below a second.
    pub fn compile(spec: &SchemeSpec) -> Result<Self, SchemeError> {
        Ok(Self(match spec {
            SchemeSpec::Hmac(spec) => Kind::Hmac(HmacScheme::compile(spec)?),
            SchemeSpec::StandardWebhooks(spec) => Kind::Standard(StandardScheme::compile(spec)?),
        }))
    }

    /// Builds a key of this scheme from a secret; do it once, it is the costly part.
    ///
    /// # Errors
    /// The secret is empty or blank, or not written as the scheme says.
    pub fn key(&self, secret: &SecretString) -> Result<Key, KeyError> {
        match &self.0 {
            Kind::Hmac(scheme) => Key::new(scheme.algorithm, scheme.key, secret),
            Kind::Standard(_) => standard_webhooks::key(secret),
        }
    }

    /// Whether one of the live secrets signed this request.
    ///
    /// Allocates nothing and costs about one hash of the body for each key tried.
    ///
    /// # Errors
    /// The reason why the request does not count as the provider's.
    pub fn verify(&self, request: &Request<'_>, keys: &[Key]) -> Result<Verified, Refusal> {
        if keys.is_empty() {
            return Err(Refusal::NoSecret);
        }
        let key_index = match &self.0 {
            Kind::Hmac(scheme) => scheme.verify(request, keys)?,
            Kind::Standard(scheme) => scheme.verify(request, keys)?,
        };
        Ok(Verified { key_index })
    }

    /// The headers that make `message` acceptable to [`verify`](Self::verify).
    ///
    /// # Errors
    /// The scheme signs the id, and this id cannot be signed.
    pub fn sign(&self, message: &Message<'_>, key: &Key) -> Result<Vec<(String, String)>, SignError> {
        match &self.0 {
            Kind::Hmac(scheme) => Ok(vec![(scheme.header.clone(), scheme.sign(key, message.body))]),
            Kind::Standard(scheme) => scheme.sign(message, key),
        }
    }

    /// The headers, in lower case, that must be kept beside the body to verify it again.
    pub fn headers(&self) -> Vec<&str> {
        match &self.0 {
            Kind::Hmac(scheme) => vec![&scheme.header],
            Kind::Standard(scheme) => scheme.headers().to_vec(),
        }
    }

    /// Whether the signature covers the value of this header (most schemes cover the body alone).
    pub fn covers_header(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Hmac(_) => false,
            Kind::Standard(scheme) => scheme.covers_header(name),
        }
    }
}

/// Checks a header's name and lowers its case.
pub(crate) fn header_name(name: &str) -> Result<String, SchemeError> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(SchemeError::HeaderName(name.to_owned()));
    }
    Ok(name.to_ascii_lowercase())
}
