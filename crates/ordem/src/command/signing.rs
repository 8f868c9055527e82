//! Who signs, and what: shared by `ordem sign` and `ordem send`.

use std::{fmt::Display, path::Path, sync::Arc};

use domain::Clock as _;
use jiff::Timestamp;
use profile::Profile;
use service::{
    SourceKeys, SystemClock,
    settings::{Configured, Source},
};
use signature::{Key, Message, Scheme, Signed, Target};

use super::profile::verify;
use crate::failure::BadInput;

/// What is signed besides body, path and address.
#[derive(Debug, clap::Args)]
pub(crate) struct Content {
    /// File with the body; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) body: String,
    /// The instant of signing.
    #[arg(long, value_name = "INSTANT")]
    now: Option<Timestamp>,
    /// A header of the request; those that the signature covers belong here as well.
    #[arg(long, value_name = "NAME: VALUE", value_parser = verify::header)]
    header: Vec<(String, String)>,
    /// File with headers, as `Name: value` lines or a JSON object.
    #[arg(long, value_name = "FILE")]
    headers: Option<String>,
    /// The query of the request, without the question mark.
    #[arg(long, default_value = "")]
    pub(crate) query: String,
}

impl Content {
    /// The body.
    pub(crate) fn body(&self) -> anyhow::Result<Vec<u8>> {
        verify::bytes(&self.body)
    }

    /// The headers: those of the file, then those given one by one.
    pub(crate) fn headers(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut headers = self.headers.as_deref().map(verify::headers).transpose()?.unwrap_or_default();
        headers.extend(self.header.iter().cloned());
        Ok(headers)
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now.unwrap_or_else(|| SystemClock.now()).as_second()
    }
}

/// A scheme with the keys to sign with, and what a source adds.
#[derive(Debug)]
pub(crate) struct Signer {
    /// What to call it in a failure.
    pub(crate) name: String,
    pub(crate) scheme: Scheme,
    pub(crate) public_url: String,
    pub(crate) constants: Vec<(String, String)>,
    keys: Vec<Key>,
}

impl Signer {
    /// The source of a configuration, with its secrets, address and constants.
    pub(crate) fn of_source(name: &str, configured: &Configured) -> anyhow::Result<Self> {
        let source = source(name, configured)?;
        let label = format!("sources.{name}");
        let bad = |error: &dyn Display| BadInput::new(format!("{label}: {error}"));
        let keys = SourceKeys::resolve(&source.settings).map_err(|error| bad(&error))?;
        let keys = keys.keys(&source.profile).map_err(|error| bad(&error))?.keys;
        Ok(Self {
            scheme: source.profile.scheme().clone(),
            public_url: source.settings.public_url.clone().unwrap_or_default(),
            constants: source.settings.constants.clone().into_iter().collect(),
            name: label,
            keys,
        })
    }

    /// The `[verify]` table of a profile's file, with a secret in a variable.
    pub(crate) fn of_profile(file: &str, secret_env: &str) -> anyhow::Result<Self> {
        let scheme = verify::scheme(file, &verify::profile_text(file)?)?;
        let (_, keys) = verify::keys(&scheme, &[], &[secret_env.to_owned()])?;
        Ok(Self { name: file.to_owned(), scheme, keys, public_url: String::new(), constants: Vec::new() })
    }

    /// What a correctly signed message carries.
    pub(crate) fn sign(&self, message: &Message<'_>) -> Result<Signed, BadInput> {
        self.scheme
            .sign_with(message, &self.keys)
            .map_err(|error| BadInput::new(format!("{}: {error}", self.name)))
    }

    /// Where the message goes to.
    pub(crate) fn target<'a>(&'a self, path: &'a str, query: &'a str) -> Target<'a> {
        Target { method: "POST", path, query, url: &self.public_url, constants: &self.constants }
    }
}

/// The configuration as a whole.
pub(crate) fn configured(dir: &Path) -> Result<Configured, BadInput> {
    Configured::load(dir).map_err(|faults| BadInput::faults(&faults))
}

/// The profile of a source that is on.
pub(crate) fn profile(name: &str, configured: &Configured) -> Result<Arc<Profile>, BadInput> {
    source(name, configured).map(|source| source.profile.clone())
}

fn source<'c>(name: &str, configured: &'c Configured) -> Result<&'c Source, BadInput> {
    if let Some(source) = configured.sources.get(name) {
        return Ok(source);
    }
    Err(BadInput::new(match configured.settings.sources.get(name) {
        Some(settings) => {
            let secrets: Vec<_> = settings.secrets.iter().map(|secret| secret.from.to_string()).collect();
            format!("sources.{name} is off: set its secret here as well ({})", secrets.join(" or "))
        }
        None => {
            let known: Vec<_> = configured.settings.sources.keys().map(String::as_str).collect();
            format!("no source \"{name}\" (there are: {})", known.join(", "))
        }
    }))
}
