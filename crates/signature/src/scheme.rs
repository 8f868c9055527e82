//! How one provider signs, compiled from its profile.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::hmac_scheme::HmacScheme;
use crate::key::{Key, KeyError};
use crate::place::Location;
use crate::signed::{Made, SignedScheme};
use crate::signed_spec::SignedSpec;
use crate::standard_webhooks::{self, StandardScheme, StandardSpec};
use crate::{Encoding, Headers, Refusal, Target, algorithm};

/// The `[verify]` table of a profile, by its `kind`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SchemeSpec {
    /// A keyed hash.
    Hmac(SignedSpec),
    /// A hash of a text that contains the secret.
    Digest(SignedSpec),
    /// Ed25519 with the provider's public key.
    Ed25519(SignedSpec),
    /// RSA PKCS#1 v1.5 with the provider's public key or certificate.
    Rsa(SignedSpec),
    /// The secret itself.
    Token(SignedSpec),
    /// The secret itself as `Authorization: Bearer`.
    Bearer(NamedSpec),
    /// HTTP Basic; the secret is `user:password`.
    Basic(NamedSpec),
    /// Standard Webhooks: id, time and body, several signatures in one header.
    StandardWebhooks(StandardSpec),
    /// Every check must accept.
    AllOf(ChecksSpec),
    /// One check must accept.
    AnyOf(ChecksSpec),
    /// Nothing is signed and nothing is believed.
    Unsigned(UnsignedSpec),
}

/// `bearer` and `basic`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedSpec {
    /// Which of the source's `more_secrets` count, instead of its `secrets`.
    pub secrets: Option<String>,
}

/// `all-of` and `any-of`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChecksSpec {
    /// The checks, each as a `[verify]` table.
    pub checks: Vec<SchemeSpec>,
}

/// `unsigned`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsignedSpec {
    /// Why that is acceptable.
    pub because: String,
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
    /// Nobody can say where the signature stands.
    #[error("exactly one of header, query and json must say where the signature stands")]
    Location,
    /// The path cannot be followed.
    #[error("{0:?} is not a path such as data.items[0].id")]
    Path(String),
    /// The format lacks what it needs.
    #[error("format \"pairs\" needs keys, \"list\" needs versions, and no separator may be empty")]
    Format,
    /// The algorithm is unknown, or belongs to another kind.
    #[error("{0:?} is not one of {1}")]
    Algorithm(String, &'static str),
    /// The template cannot be filled.
    #[error("{0:?} {1}")]
    Template(String, String),
    /// The signed time cannot be found.
    #[error("{0}")]
    Time(&'static str),
    /// There is nothing to check.
    #[error("checks is empty, or holds a check that is itself composed or unsigned")]
    Checks,
    /// `because` is blank.
    #[error("because must say why nothing is signed")]
    Because,
    /// Known, and not built.
    #[error("not yet: {0}")]
    NotYet(&'static str),
}

/// Why a message cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The id would not survive as a header value, or could run into the signed time.
    #[error("message id {0:?} is empty, too long, or has a dot, a blank or a letter outside ASCII")]
    Id(String),
    /// Only the provider can sign.
    #[error("the scheme signs with the provider's private key, which only the provider has")]
    PublicKey,
    /// A header, parameter or constant that is signed is missing.
    #[error("a header, query parameter, address or constant that is signed is missing")]
    Incomplete,
    /// There is nothing to sign with.
    #[error("the source is unsigned")]
    Unsigned,
}

/// A request as it came, before anything in it is believed.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The request's headers.
    pub headers: &'a dyn Headers,
    /// The bytes of the body as they came over the wire.
    pub body: &'a [u8],
    /// The receiver's time, in seconds since 1970; only schemes that sign a time look at it, and keys that end.
    pub now: i64,
    /// Where it was sent to.
    pub target: Target<'a>,
}

impl<'a> Request<'a> {
    /// A request of which only headers and body can be signed.
    pub fn new(headers: &'a dyn Headers, body: &'a [u8], now: i64) -> Self {
        Self { headers, body, now, target: Target::default() }
    }

    /// The same request with what is known of its target.
    #[must_use]
    pub fn to(mut self, target: Target<'a>) -> Self {
        self.target = target;
        self
    }
}

/// A message to sign.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The message's id; only schemes that sign an id use it.
    pub id: &'a str,
    /// The time of signing, in seconds since 1970; only schemes that sign a time use it.
    pub unix_seconds: i64,
    /// The body's bytes.
    pub body: &'a [u8],
    /// Headers that the message will carry, where the scheme signs some.
    pub headers: &'a dyn Headers,
    /// Where it will be sent to.
    pub target: Target<'a>,
}

impl<'a> Message<'a> {
    /// A message of which only id, time and body can be signed.
    pub fn new(id: &'a str, unix_seconds: i64, body: &'a [u8]) -> Self {
        Self { id, unix_seconds, body, headers: &(), target: Target::default() }
    }
}

/// What makes a message acceptable: to be added to it before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signed {
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Parameters of the query.
    pub query: Vec<(String, String)>,
    /// Values in the JSON body, by their paths.
    pub json: Vec<(String, String)>,
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
                    let signed = check.sign_all(message, &part)?;
                    all.headers.extend(signed.headers);
                    all.query.extend(signed.query);
                    all.json.extend(signed.json);
                }
                Ok(all)
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

    fn parts(&self) -> Vec<&SignedScheme> {
        match &self.0 {
            Kind::Signed(scheme) | Kind::Basic(scheme) => vec![scheme],
            Kind::All(checks) | Kind::Any(checks) => checks.iter().flat_map(Scheme::parts).collect(),
            Kind::Hmac(_) | Kind::Standard(_) | Kind::Unsigned => Vec::new(),
        }
    }

    /// The headers, in lower case, that must be kept beside the body to verify it again.
    pub fn headers(&self) -> Vec<&str> {
        match &self.0 {
            Kind::Hmac(scheme) => vec![&scheme.header],
            Kind::Standard(scheme) => scheme.headers().to_vec(),
            Kind::Signed(scheme) | Kind::Basic(scheme) => scheme.headers(),
            Kind::All(checks) | Kind::Any(checks) => checks.iter().flat_map(Scheme::headers).collect(),
            Kind::Unsigned => Vec::new(),
        }
    }

    /// Whether the signature covers the value of this header (most schemes cover the body alone).
    pub fn covers_header(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Hmac(_) | Kind::Unsigned => false,
            Kind::Standard(scheme) => scheme.covers_header(name),
            Kind::Signed(scheme) | Kind::Basic(scheme) => {
                scheme.made != Made::Token && scheme.text.headers().any(|covered| covered == name)
            }
            Kind::All(checks) => checks.iter().any(|check| check.covers_header(name)),
            Kind::Any(checks) => checks.iter().all(|check| check.covers_header(name)),
        }
    }

    /// Whether the signature covers the value of this query parameter.
    pub fn covers_query(&self, name: &str) -> bool {
        let covers = |scheme: &&SignedScheme| {
            scheme.made != Made::Token && scheme.text.queries().any(|covered| covered == name)
        };
        match &self.0 {
            Kind::Any(checks) => checks.iter().all(|check| check.covers_query(name)),
            _ => self.parts().iter().any(covers),
        }
    }

    /// Whether the signature covers the body.
    pub fn covers_body(&self) -> bool {
        match &self.0 {
            Kind::Hmac(_) | Kind::Standard(_) => true,
            Kind::Unsigned => false,
            Kind::Signed(scheme) | Kind::Basic(scheme) => {
                scheme.made != Made::Token && scheme.text.covers_body()
            }
            Kind::All(checks) => checks.iter().any(Scheme::covers_body),
            Kind::Any(checks) => checks.iter().all(Scheme::covers_body),
        }
    }

    /// Whether nothing is signed.
    pub fn is_unsigned(&self) -> bool {
        matches!(self.0, Kind::Unsigned)
    }

    /// Whether the signature stands in the JSON body: then each event of a request carries its own.
    pub fn verifies_items(&self) -> bool {
        self.parts().iter().any(|scheme| matches!(scheme.place.location, Location::Json(_)))
    }

    /// Whether the query must be kept to verify again.
    pub fn needs_query(&self) -> bool {
        self.parts().iter().any(|scheme| !scheme.queries().is_empty())
    }

    /// Whether the path must be kept to verify again.
    pub fn needs_path(&self) -> bool {
        self.parts().iter().any(|scheme| scheme.text.needs_path())
    }

    /// Whether the source must say its public address.
    pub fn needs_url(&self) -> bool {
        self.parts().iter().any(|scheme| scheme.text.needs_url())
    }

    /// Constants that the source must have.
    pub fn constants(&self) -> Vec<&str> {
        self.parts().into_iter().flat_map(|scheme| scheme.text.constants()).collect()
    }

    /// Named lists of secrets that the source must have.
    pub fn groups(&self) -> Vec<&str> {
        self.parts().into_iter().filter_map(|scheme| scheme.secrets.as_deref()).collect()
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
