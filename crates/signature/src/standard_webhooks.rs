//! The Standard Webhooks scheme: `HMAC-SHA256(id.timestamp.body)`, versioned, several signatures in one header.
//!
//! Used for what we send, and for providers that send by it.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use base64::Engine as _;

use crate::digest::{BASE64, Digest};
use crate::key::{Key, KeyError, KeyForm};
use crate::scheme::{Message, SchemeError, SignError, Verified, header_name};
use crate::{Algorithm, Encoding, Headers, Refusal, Request};

/// Seconds that the signed time may differ from now, either way, unless set.
pub const TOLERANCE_SECONDS: u32 = 300;

/// What the specification puts before a secret in base64.
const SECRET_PREFIX: &str = "whsec_";

/// Least bytes of a key, as the specification has it.
const KEY_BYTES_MIN: usize = 24;

/// Longest id and time that are read; both are copied to the stack.
const TEXT_MAX: usize = 256;

/// `kind = "standard-webhooks"`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StandardSpec {
    /// What the three header names start with (`webhook` unless set; older senders use their own name).
    #[serde(default = "webhook")]
    pub header_prefix: String,
    /// Seconds that the signed time may differ from now, either way.
    #[serde(default = "tolerance")]
    pub tolerance_seconds: u32,
    /// Which of the source's `more_secrets` count, instead of its `secrets`.
    pub secrets: Option<String>,
}

fn webhook() -> String {
    "webhook".to_owned()
}

fn tolerance() -> u32 {
    TOLERANCE_SECONDS
}

/// The compiled form.
#[derive(Clone, Debug)]
pub(crate) struct StandardScheme {
    id: String,
    timestamp: String,
    signature: String,
    tolerance_seconds: u32,
    pub(crate) secrets: Option<String>,
}

/// Builds a key from a secret: `whsec_<base64>`, or any other text taken as it stands.
///
/// # Errors
/// The secret is empty or blank, or what follows `whsec_` is not base64.
pub fn key(secret: &SecretString) -> Result<Key, KeyError> {
    match secret.expose_secret().trim().strip_prefix(SECRET_PREFIX) {
        Some(encoded) => Key::new(Algorithm::HmacSha256, KeyForm::Base64, &SecretString::from(encoded)),
        None => Key::new(Algorithm::HmacSha256, KeyForm::Text, secret),
    }
}

/// Every key that a verifier may make of a secret, each of which should sign.
///
/// The public libraries take a secret without `whsec_` for base64, others take its text. A secret that can be read
/// both ways signs twice (the header holds several signatures), so that either verifier finds its own. Only base64 of
/// 24 bytes or more counts, the least that the specification allows for a key.
///
/// # Errors
/// As [`key`].
pub fn signing_keys(secret: &SecretString) -> Result<Vec<Key>, KeyError> {
    let mut keys = vec![key(secret)?];
    let text = secret.expose_secret().trim();
    let decoded = BASE64.decode(text);
    if !text.starts_with(SECRET_PREFIX) && decoded.is_ok_and(|bytes| bytes.len() >= KEY_BYTES_MIN) {
        keys.push(Key::new(Algorithm::HmacSha256, KeyForm::Base64, secret)?);
    }
    Ok(keys)
}

/// The value of `webhook-signature`: `v1,<base64>`.
pub fn sign(id: &str, unix_seconds: i64, body: &[u8], key: &Key) -> String {
    let seconds = unix_seconds.to_string();
    let digest = key.digest(&[id.as_bytes(), b".", seconds.as_bytes(), b".", body]);
    format!("v1,{}", Encoding::Base64.encode(&digest))
}

/// Verifies a request with the usual header names.
///
/// # Errors
/// The reason why the request is not accepted.
pub fn verify(request: &Request<'_>, keys: &[Key], tolerance_seconds: u32) -> Result<Verified, Refusal> {
    if keys.is_empty() {
        return Err(Refusal::NoSecret);
    }
    let [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let names = Names { id, timestamp, signature, group: None };
    names.verify(request, keys, tolerance_seconds).map(|key_index| Verified { key_index })
}

impl StandardScheme {
    pub(crate) fn compile(spec: &StandardSpec) -> Result<Self, SchemeError> {
        if spec.tolerance_seconds == 0 {
            return Err(SchemeError::Tolerance);
        }
        let name = |end: &str| header_name(&format!("{}-{end}", spec.header_prefix));
        Ok(Self {
            id: name("id")?,
            timestamp: name("timestamp")?,
            signature: name("signature")?,
            tolerance_seconds: spec.tolerance_seconds,
            secrets: spec.secrets.clone(),
        })
    }

    pub(crate) fn verify(&self, request: &Request<'_>, keys: &[Key]) -> Result<usize, Refusal> {
        let [id, timestamp, signature] = self.headers();
        let group = self.secrets.as_deref();
        Names { id, timestamp, signature, group }.verify(request, keys, self.tolerance_seconds)
    }

    pub(crate) fn sign(&self, message: &Message<'_>, key: &Key) -> Result<Vec<(String, String)>, SignError> {
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'.';
        if message.id.is_empty() || message.id.len() > TEXT_MAX || !message.id.bytes().all(plain) {
            return Err(SignError::Id(message.id.to_owned()));
        }
        let signature = sign(message.id, message.unix_seconds, message.body, key);
        Ok(vec![
            (self.id.clone(), message.id.to_owned()),
            (self.timestamp.clone(), message.unix_seconds.to_string()),
            (self.signature.clone(), signature),
        ])
    }

    pub(crate) fn headers(&self) -> [&str; 3] {
        [&self.id, &self.timestamp, &self.signature]
    }

    pub(crate) fn covers_header(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(&self.id) || name.eq_ignore_ascii_case(&self.timestamp)
    }
}

/// The names of the three headers.
struct Names<'a> {
    id: &'a str,
    timestamp: &'a str,
    signature: &'a str,
    group: Option<&'a str>,
}

impl Names<'_> {
    fn verify(&self, request: &Request<'_>, keys: &[Key], tolerance_seconds: u32) -> Result<usize, Refusal> {
        let id = Text::read(request.headers, self.id)?;
        let timestamp = Text::read(request.headers, self.timestamp)?;
        let signed_at = unix_seconds(timestamp.as_bytes())?;
        let now = request.now;
        let parts = [id.as_bytes(), b".", timestamp.as_bytes(), b".", request.body];
        let key_index = self.matching(request.headers, &parts, keys, now)?;
        // The time is judged last: "expired" is said only of what the provider really signed.
        if signed_at.abs_diff(request.now) > u64::from(tolerance_seconds) {
            return Err(Refusal::Expired);
        }
        Ok(key_index)
    }

    /// The first key that made any of the `v1` signatures.
    fn matching(
        &self,
        headers: &dyn Headers,
        parts: &[&[u8]],
        keys: &[Key],
        now: i64,
    ) -> Result<usize, Refusal> {
        let mut result = Err(Refusal::MissingHeader);
        let mut tried = 0;
        headers.for_each(self.signature, &mut |line| {
            for entry in line.split(|byte| *byte == b' ').filter(|entry| !entry.is_empty()) {
                if result.is_ok() || tried == SIGNATURES_MAX {
                    return;
                }
                let found = read_entry(entry).and_then(|digest| {
                    tried += 1;
                    let matches =
                        |key: &Key| key.counts(now, self.group) && key.matches(parts, digest.as_bytes());
                    keys.iter().position(matches).ok_or(Refusal::Mismatch)
                });
                result = more_telling(result, found);
            }
            if result == Err(Refusal::MissingHeader) {
                result = Err(Refusal::Malformed);
            }
        });
        result
    }
}

/// Most signatures tried in one request: each costs a hash of the body, and rotation needs two.
const SIGNATURES_MAX: usize = 8;

/// Reads `v1,<base64>`.
fn read_entry(entry: &[u8]) -> Result<Digest, Refusal> {
    let comma = entry.iter().position(|byte| *byte == b',').ok_or(Refusal::Malformed)?;
    let (version, digest) = entry.split_at(comma);
    if version != b"v1" {
        return Err(Refusal::UnknownScheme);
    }
    Digest::decode(&digest[1..], Encoding::Base64, Algorithm::HmacSha256)
}

/// Of two outcomes of several signatures, the one that says more about what is wrong.
pub(crate) fn more_telling(
    one: Result<usize, Refusal>,
    other: Result<usize, Refusal>,
) -> Result<usize, Refusal> {
    let weight = |result: &Result<usize, Refusal>| match result {
        Ok(_) => 5,
        Err(Refusal::Expired | Refusal::NoSecret) => 4,
        Err(Refusal::Mismatch) => 3,
        Err(Refusal::Malformed) => 2,
        Err(Refusal::UnknownScheme) => 1,
        Err(Refusal::MissingHeader) => 0,
    };
    if weight(&other) > weight(&one) { other } else { one }
}

/// Reads whole seconds since 1970: digits only, no sign, not longer than any time in use.
fn unix_seconds(text: &[u8]) -> Result<i64, Refusal> {
    if text.is_empty() || text.len() > 12 || !text.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::Malformed);
    }
    Ok(text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// A short header value, copied to the stack.
struct Text {
    bytes: [u8; TEXT_MAX],
    len: usize,
}

impl Text {
    /// The one value of a header, without blanks around it; copies of the line count once.
    fn read(headers: &dyn Headers, name: &str) -> Result<Self, Refusal> {
        let mut text = Self { bytes: [0; TEXT_MAX], len: 0 };
        let mut result = Err(Refusal::MissingHeader);
        headers.for_each(name, &mut |line| {
            let value = line.trim_ascii();
            result = match result {
                Err(Refusal::MissingHeader) => text.fill(value),
                Ok(()) if text.as_bytes() == value => Ok(()),
                _ => Err(Refusal::Malformed),
            };
        });
        result.map(|()| text)
    }

    fn fill(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if value.is_empty() {
            return Err(Refusal::Malformed);
        }
        self.bytes.get_mut(..value.len()).ok_or(Refusal::Malformed)?.copy_from_slice(value);
        self.len = value.len();
        Ok(())
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
