//! How one provider signs, compiled from its profile.

mod covers;
mod fault;
mod message;
mod spec;

use secrecy::{ExposeSecret as _, SecretString};

use crate::hmac_scheme::HmacScheme;
use crate::key::{Key, KeyError};
use crate::signed::{Made, SignedScheme};
use crate::signed_spec::SignedSpec;
use crate::standard_webhooks::{self, StandardScheme};
use crate::{Encoding, Refusal, algorithm};

pub use fault::{SchemeError, SignError};
pub use message::{Message, Request, Signed, Verified};
pub use spec::{ChecksSpec, NamedSpec, SchemeSpec, UnsignedSpec};

/// How one provider signs: verifies and signs.
#[derive(Clone, Debug)]
pub struct Scheme(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Hmac(HmacScheme),
    Standard(StandardScheme),
    Signed(Box<SignedScheme>),
    Basic(Box<SignedScheme>),
    All(Vec<Scheme>),
    Any(Vec<Scheme>),
    Unsigned,
}

impl Scheme {
    /// Checks and compiles a profile's `[verify]` table.
    ///
    /// # Errors
    /// What cannot be sent, found or signed as the table says.
    pub fn compile(spec: &SchemeSpec) -> Result<Self, SchemeError> {
        let signed =
            |made, spec| SignedScheme::compile(made, spec).map(|scheme| Kind::Signed(Box::new(scheme)));
        spec.refuse_foreign()?;
        Ok(Self(match spec {
            SchemeSpec::Hmac(spec) => {
                let algorithm = algorithm::hmac(spec)?;
                match HmacScheme::compile(algorithm, spec)? {
                    Some(scheme) => Kind::Hmac(scheme),
                    None => signed(Made::Hmac(algorithm), spec)?,
                }
            }
            SchemeSpec::Digest(spec) => signed(Made::Digest(algorithm::digest(spec)?), spec)?,
            SchemeSpec::Ed25519(spec) => signed(algorithm::ed25519(spec)?, spec)?,
            SchemeSpec::Rsa(spec) => signed(algorithm::rsa(spec)?, spec)?,
            SchemeSpec::Token(spec) => signed(Made::Token, spec)?,
            SchemeSpec::Bearer(spec) => Kind::Signed(Box::new(authorization("Bearer ", spec)?)),
            SchemeSpec::Basic(spec) => Kind::Basic(Box::new(authorization("Basic ", spec)?)),
            SchemeSpec::StandardWebhooks(spec) => Kind::Standard(StandardScheme::compile(spec)?),
            SchemeSpec::AllOf(spec) => Kind::All(checks(spec)?),
            SchemeSpec::AnyOf(spec) => Kind::Any(checks(spec)?),
            SchemeSpec::Unsigned(spec) if spec.because.trim().is_empty() => return Err(SchemeError::Because),
            SchemeSpec::Unsigned(_) => Kind::Unsigned,
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
            Kind::Signed(scheme) => scheme.key(secret),
            Kind::Basic(_) => basic_key(secret),
            Kind::Unsigned => Key::text(secret),
            Kind::All(checks) | Kind::Any(checks) => {
                let keys: Vec<_> = checks.iter().map(|check| check.key(secret)).collect();
                if let Some(first) = keys.iter().find_map(|key| key.as_ref().err())
                    && keys.iter().all(Result::is_err)
                {
                    return Err(first.clone());
                }
                Ok(Key::each(keys.into_iter().map(Result::ok).collect()))
            }
        }
    }

    /// Builds a key from a secret of one of the source's named lists ([`groups`](Self::groups)).
    ///
    /// # Errors
    /// As [`key`](Self::key); and the secret is not written as some check says that takes this list.
    pub fn group_key(&self, group: &str, secret: &SecretString) -> Result<Key, KeyError> {
        let takes = |check: &&Scheme| check.groups().contains(&group);
        if let Kind::All(checks) | Kind::Any(checks) = &self.0 {
            checks.iter().filter(takes).try_for_each(|check| check.key(secret).map(drop))?;
        }
        Ok(self.key(secret)?.in_group(group))
    }

    /// Whether one of the live secrets signed this request.
    ///
    /// Costs about one hash of the body for each key tried; the plainest scheme allocates nothing.
    ///
    /// # Errors
    /// The reason why the request does not count as the provider's.
    pub fn verify(&self, request: &Request<'_>, keys: &[Key]) -> Result<Verified, Refusal> {
        if keys.is_empty() && !self.is_unsigned() {
            return Err(Refusal::NoSecret);
        }
        let key_index = match &self.0 {
            Kind::Hmac(scheme) => scheme.verify(request, keys)?,
            Kind::Standard(scheme) => scheme.verify(request, keys)?,
            Kind::Signed(scheme) | Kind::Basic(scheme) => scheme.verify(request, keys)?,
            Kind::Unsigned => 0,
            Kind::All(checks) => {
                let mut last = 0;
                for (at, check) in checks.iter().enumerate() {
                    last = check.verify_part(at, request, keys)?;
                }
                last
            }
            Kind::Any(checks) => {
                let mut result = Err(Refusal::NoSecret);
                for (at, check) in checks.iter().enumerate() {
                    let next = check.verify_part(at, request, keys);
                    result = standard_webhooks::more_telling(result, next);
                    if result.is_ok() {
                        break;
                    }
                }
                result?
            }
        };
        Ok(Verified { key_index })
    }

    /// One check of a composed scheme: tries the parts of the keys that are its own.
    fn verify_part(&self, at: usize, request: &Request<'_>, keys: &[Key]) -> Result<usize, Refusal> {
        let (indexes, parts): (Vec<usize>, Vec<Key>) =
            keys.iter().enumerate().filter_map(|(index, key)| Some((index, key.part(at)?))).unzip();
        let verified = self.verify(request, &parts)?;
        Ok(indexes.get(verified.key_index).copied().unwrap_or_default())
    }

    /// The headers that make `message` acceptable to [`verify`](Self::verify).
    ///
    /// # Errors
    /// As [`sign_all`](Self::sign_all).
    pub fn sign(&self, message: &Message<'_>, key: &Key) -> Result<Vec<(String, String)>, SignError> {
        self.sign_all(message, key).map(|signed| signed.headers)
    }

    /// All that makes `message` acceptable to [`verify`](Self::verify).
    ///
    /// # Errors
    /// The scheme signs something that the message lacks, or only the provider can sign.
    pub fn sign_all(&self, message: &Message<'_>, key: &Key) -> Result<Signed, SignError> {
        let headers = |headers| Signed { headers, ..Signed::default() };
        match &self.0 {
            Kind::Hmac(scheme) => Ok(headers(vec![(scheme.header.clone(), scheme.sign(key, message.body))])),
            Kind::Standard(scheme) => scheme.sign(message, key).map(headers),
            Kind::Signed(scheme) | Kind::Basic(scheme) => scheme.sign(message, key),
            Kind::Unsigned => Err(SignError::Unsigned),
            Kind::Any(checks) => {
                let first = checks.iter().enumerate().find_map(|(at, check)| Some((check, key.part(at)?)));
                let (check, part) = first.ok_or(SignError::Incomplete)?;
                check.sign_all(message, &part)
            }
            Kind::All(checks) => {
                let mut all = Signed::default();
                for (at, check) in checks.iter().enumerate() {
                    let part = key.part(at).ok_or(SignError::Incomplete)?;
                    all.add(check.sign_all(message, &part)?);
                }
                Ok(all)
            }
        }
    }

    /// As [`sign_all`](Self::sign_all), with the first of a source's keys that counts now: for each check of a composed
    /// scheme, one of its own list. Of several that would do, the first check that can be met is.
    ///
    /// # Errors
    /// As `sign_all`; besides, no key counts now.
    pub fn sign_with(&self, message: &Message<'_>, keys: &[Key]) -> Result<Signed, SignError> {
        let own = |at: usize| keys.iter().filter_map(|key| key.part(at)).collect::<Vec<_>>();
        match &self.0 {
            Kind::All(checks) => {
                let mut all = Signed::default();
                for (at, check) in checks.iter().enumerate() {
                    all.add(check.sign_with(message, &own(at))?);
                }
                Ok(all)
            }
            Kind::Any(checks) => {
                let mut result = Err(SignError::NoKey);
                for (at, check) in checks.iter().enumerate() {
                    match check.sign_with(message, &own(at)) {
                        Ok(signed) => return Ok(signed),
                        Err(SignError::NoKey) => {}
                        Err(error) => result = result.and(Err(error)),
                    }
                }
                result
            }
            Kind::Hmac(_) | Kind::Standard(_) | Kind::Signed(_) | Kind::Basic(_) | Kind::Unsigned => {
                let group = self.groups().first().copied();
                let counts = |key: &&Key| key.counts(message.unix_seconds, group);
                match keys.iter().find(counts) {
                    Some(key) => self.sign_all(message, key),
                    None if self.is_unsigned() => Err(SignError::Unsigned),
                    None => Err(SignError::NoKey),
                }
            }
        }
    }

    /// The string that this request must have been signed over, where the scheme is one that fills a template; for people
    /// who look for the reason of a mismatch. Never holds the secret.
    pub fn string_to_sign(&self, request: &Request<'_>) -> Option<Vec<u8>> {
        match &self.0 {
            Kind::Hmac(_) => Some(request.body.to_vec()),
            Kind::Signed(scheme) => scheme.string_to_sign(request),
            _ => None,
        }
    }
}

fn checks(spec: &ChecksSpec) -> Result<Vec<Scheme>, SchemeError> {
    let checks: Vec<Scheme> = spec.checks.iter().map(Scheme::compile).collect::<Result<_, _>>()?;
    let composed = |check: &Scheme| matches!(check.0, Kind::All(_) | Kind::Any(_) | Kind::Unsigned);
    if checks.is_empty() || checks.iter().any(composed) { Err(SchemeError::Checks) } else { Ok(checks) }
}

/// A token in the `Authorization` header.
fn authorization(word: &str, named: &NamedSpec) -> Result<SignedScheme, SchemeError> {
    let spec = SignedSpec {
        header: Some("authorization".to_owned()),
        prefix: word.to_owned(),
        secrets: named.secrets.clone(),
        ..SignedSpec::default()
    };
    SignedScheme::compile(Made::Token, &spec)
}

/// User and password as the header carries them.
fn basic_key(secret: &SecretString) -> Result<Key, KeyError> {
    let text = secret.expose_secret().trim();
    match text.split_once(':') {
        _ if text.is_empty() => Err(KeyError::Blank),
        Some((_, password)) if !password.is_empty() => {
            Key::text(&SecretString::from(Encoding::Base64.encode(text.as_bytes())))
        }
        _ => Err(KeyError::UserAndPassword),
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
