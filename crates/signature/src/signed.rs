//! Everything that a provider makes of a secret or a private key and puts at one place of the request.

mod hash;
mod time;

use std::borrow::Cow;

use secrecy::{ExposeSecret as _, SecretString};

use crate::key::{Key, KeyError, KeyForm};
use crate::place::{Found, Location, Place};
use crate::scheme::{Message, Request, SchemeError, SignError, Signed};
use crate::signed_spec::SignedSpec;
use crate::template::{Fill, Template};
use crate::{Algorithm, Encoding, Refusal, Target, headers, public_key};

pub(crate) use hash::Hash;
use hash::same;
use time::{SignedTime, TimeFrom, number, signed_time};

/// What is made of the string to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Hmac(Algorithm),
    Digest(Hash),
    Ed25519 { prehashed: bool },
    Rsa,
    Token,
}

/// The compiled form.
#[derive(Clone, Debug)]
pub(crate) struct SignedScheme {
    pub(crate) made: Made,
    pub(crate) place: Place,
    pub(crate) text: Template,
    pub(crate) secrets: Option<String>,
    encoding: Encoding,
    time: Option<SignedTime>,
    form: KeyForm,
    key_prefix: String,
    html_unescape: bool,
}

impl SignedScheme {
    pub(crate) fn compile(made: Made, spec: &SignedSpec) -> Result<Self, SchemeError> {
        if spec.certificate_url_header.is_some() {
            return Err(SchemeError::NotYet(
                "certificate_url_header: fetching a certificate from an address in the request",
            ));
        }
        let text = spec.text.as_ref().map_or_else(|| Ok(Template::body()), Template::compile)?;
        let place = Place::compile(spec)?;
        let time = spec.timestamp.as_ref().map(signed_time).transpose()?;
        let in_signature = matches!(&time, Some(SignedTime { from: TimeFrom::Signature, .. }));
        if in_signature && !place.has_timestamp() {
            return Err(SchemeError::Time("timestamp.from is the signature, but it has no timestamp_key"));
        }
        if text.has_timestamp() && time.is_none() && !place.has_timestamp() {
            return Err(SchemeError::Time("the text has {timestamp}, but nothing says where it stands"));
        }
        if time.as_ref().is_some_and(|time| !text.signs_time(time.header())) {
            return Err(SchemeError::Time(
                "timestamp is judged, but the text does not sign it: anybody could renew it",
            ));
        }
        if matches!(made, Made::Digest(_)) && !text.has_secret() {
            return Err(SchemeError::Template(
                "text".to_owned(),
                "of a digest has no {secret}: anybody could make it".to_owned(),
            ));
        }
        if !matches!(made, Made::Digest(_)) && text.has_secret() {
            return Err(SchemeError::Template(
                "text".to_owned(),
                "has {secret}, which only a digest may have".to_owned(),
            ));
        }
        Ok(Self {
            made,
            place,
            text,
            secrets: spec.secrets.clone(),
            encoding: spec.encoding,
            time,
            form: spec.key,
            key_prefix: spec.key_prefix.clone(),
            html_unescape: spec.html_unescape,
        })
    }

    /// A token at one place: `bearer` is a shorthand for it.
    pub(crate) fn key(&self, secret: &SecretString) -> Result<Key, KeyError> {
        let text = secret.expose_secret();
        if text.trim().is_empty() {
            return Err(KeyError::Blank);
        }
        let text =
            if self.html_unescape { html_escape::decode_html_entities(text) } else { Cow::Borrowed(text) };
        let text = match text.trim_start().strip_prefix(self.key_prefix.as_str()) {
            Some(rest) if !self.key_prefix.is_empty() => Cow::Owned(rest.to_owned()),
            _ => text,
        };
        let secret = SecretString::from(text.as_ref());
        match self.made {
            Made::Hmac(algorithm) => Key::new(algorithm, self.form, &secret),
            Made::Digest(_) | Made::Token => Key::text(&secret),
            Made::Ed25519 { .. } => public_key::ed25519(self.form, &text).map(Key::public),
            Made::Rsa => public_key::rsa(&text).map(Key::public),
        }
    }

    pub(crate) fn verify(&self, request: &Request<'_>, keys: &[Key]) -> Result<usize, Refusal> {
        let found = self.place.read(request)?;
        let time = self.time_text(request, &found)?;
        let signed_at = match (&self.time, &time) {
            (Some(rule), Some(text)) => Some((rule, number(text)?)),
            _ => None,
        };
        let key_index = self.matching(request, keys, &found, time.as_deref())?;
        // The time is judged last: "expired" is said only of what the provider really signed.
        match signed_at {
            Some((rule, at)) if !rule.allows(at, request.now) => Err(Refusal::Expired),
            _ => Ok(key_index),
        }
    }

    fn time_text(&self, request: &Request<'_>, found: &Found) -> Result<Option<Vec<u8>>, Refusal> {
        match self.time.as_ref().map(|time| &time.from) {
            Some(TimeFrom::Header(name)) => headers::single(request.headers, name).map(Some),
            Some(TimeFrom::Signature) => found.timestamp.clone().map(Some).ok_or(Refusal::Malformed),
            None => Ok(found.timestamp.clone()),
        }
    }

    fn matching(
        &self,
        request: &Request<'_>,
        keys: &[Key],
        found: &Found,
        time: Option<&[u8]>,
    ) -> Result<usize, Refusal> {
        let signatures: Vec<Vec<u8>> =
            found.signatures.iter().filter_map(|written| self.decode(written)).collect();
        if signatures.is_empty() {
            return Err(Refusal::Malformed);
        }
        let mut tried = false;
        for (index, key) in keys.iter().enumerate() {
            if !key.counts(request.now, self.secrets.as_deref()) {
                continue;
            }
            tried = true;
            let fill = Fill { timestamp: time, secret: key.secret() };
            let pieces = self.text.fill(request, &fill)?;
            if signatures.iter().any(|signature| self.matches(key, &pieces, signature)) {
                return Ok(index);
            }
        }
        Err(if tried { Refusal::Mismatch } else { Refusal::NoSecret })
    }

    /// The bytes of a signature, if it is written as it should be.
    fn decode(&self, written: &[u8]) -> Option<Vec<u8>> {
        if self.made == Made::Token {
            return Some(written.to_vec());
        }
        let bytes = self.encoding.decode(written).ok()?;
        let fits = match self.made {
            Made::Hmac(algorithm) => bytes.len() == algorithm.digest_bytes(),
            Made::Digest(hash) => bytes.len() == hash.bytes(),
            Made::Ed25519 { .. } => bytes.len() == 64,
            Made::Rsa | Made::Token => !bytes.is_empty(),
        };
        fits.then_some(bytes)
    }

    fn matches(&self, key: &Key, pieces: &[Cow<'_, [u8]>], signature: &[u8]) -> bool {
        let parts: Vec<&[u8]> = pieces.iter().map(AsRef::as_ref).collect();
        match self.made {
            Made::Hmac(_) => key.matches(&parts, signature),
            Made::Digest(hash) => same(&hash.of(&parts), signature),
            Made::Token => same(key.secret(), signature),
            Made::Ed25519 { prehashed } => {
                let message = if prehashed { Hash::Sha256.of(&parts) } else { parts.concat() };
                public_key::ed25519_matches(key.public_bytes(), &message, signature)
            }
            Made::Rsa => public_key::rsa_matches(key.public_bytes(), &parts.concat(), signature),
        }
    }

    /// The string to sign, with the secret left out.
    pub(crate) fn string_to_sign(&self, request: &Request<'_>) -> Option<Vec<u8>> {
        let found = self.place.read(request).unwrap_or_default();
        let time = self.time_text(request, &found).ok().flatten();
        let fill = Fill { timestamp: time.as_deref(), secret: b"[secret]" };
        self.text.fill(request, &fill).ok().map(|pieces| pieces.concat())
    }

    /// What a sender adds to a message.
    pub(crate) fn sign(&self, message: &Message<'_>, key: &Key) -> Result<Signed, SignError> {
        if key.is_public() {
            return Err(SignError::PublicKey);
        }
        let time =
            message.unix_seconds.saturating_mul(self.time.as_ref().map_or(1, |time| time.unit.per_second()));
        let time = time.to_string();
        let mut signed = Signed::default();
        let mut own: Vec<(String, String)> = Vec::new();
        if let Some(SignedTime { from: TimeFrom::Header(name), .. }) = &self.time {
            own.push((name.clone(), time.clone()));
        }
        let headers = Both { own: &own, message: message.headers };
        let target = Target { ..message.target };
        let request = Request { headers: &headers, body: message.body, now: message.unix_seconds, target };
        let fill = Fill { timestamp: Some(time.as_bytes()), secret: key.secret() };
        let pieces = self.text.fill(&request, &fill).map_err(|_| SignError::Incomplete)?;
        let parts: Vec<&[u8]> = pieces.iter().map(AsRef::as_ref).collect();
        let bytes = match self.made {
            Made::Hmac(_) => self.encoding.encode(&key.digest(&parts)),
            Made::Digest(hash) => self.encoding.encode(&hash.of(&parts)),
            _ => String::from_utf8_lossy(key.secret()).into_owned(),
        };
        let value = self.place.write(&bytes, Some(&time));
        signed.headers = own;
        match &self.place.location {
            Location::Header(name) => signed.headers.push((name.clone(), value)),
            Location::Query(name) => signed.query.push((name.clone(), value)),
            Location::Json(path) => signed.json.push((path.clone(), value)),
        }
        Ok(signed)
    }

    /// Headers that verifying again needs.
    pub(crate) fn headers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.text.headers().collect();
        if let Some(SignedTime { from: TimeFrom::Header(name), .. }) = &self.time {
            names.push(name);
        }
        if let Location::Header(name) = &self.place.location {
            names.push(name);
        }
        names
    }

    /// Whether the header's value is signed: by its name, or as the signed time.
    pub(crate) fn covers_header(&self, name: &str) -> bool {
        let time = self.time.as_ref().and_then(SignedTime::header).filter(|_| self.text.has_timestamp());
        self.text.headers().chain(time).any(|covered| covered.eq_ignore_ascii_case(name))
    }

    pub(crate) fn queries(&self) -> Vec<&str> {
        let own = match &self.place.location {
            Location::Query(name) => Some(name.as_str()),
            _ => None,
        };
        self.text.queries().chain(own).collect()
    }
}

/// Headers of a message together with those that signing adds.
struct Both<'a> {
    own: &'a [(String, String)],
    message: &'a dyn crate::Headers,
}

impl crate::Headers for Both<'_> {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        self.own.for_each(name, visit);
        self.message.for_each(name, visit);
    }
}
