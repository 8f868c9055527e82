//! A profile, parsed and compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::tz::TimeZone;
use signature::Scheme;

use crate::api::Api;
use crate::compile;
use crate::decode::Decoding;
use crate::document::Split;
use crate::fault::{Fault, Faults};
use crate::fetch::Fetch;
use crate::handshake::Handshake;
use crate::reader::Reader;
use crate::spec::ProfileSpec;
use crate::version::VersionRules;
use crate::watch::Watch;

/// What one provider's file says, ready to use.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: String,
    pub(crate) weaknesses: Vec<String>,
    pub(crate) scheme: Scheme,
    pub(crate) kept_headers: Vec<String>,
    pub(crate) answers: Answers,
    pub(crate) content_types: Vec<String>,
    pub(crate) decoding: Decoding,
    pub(crate) split: Option<Split>,
    pub(crate) handshakes: Vec<Handshake>,
    pub(crate) redact: Vec<String>,
    pub(crate) success_body: String,
    pub(crate) documentation: Vec<String>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) gives_up_after: Option<Duration>,
    pub(crate) event: Reader,
    pub(crate) version: VersionRules,
    pub(crate) api: Option<Api>,
    pub(crate) watch: Option<Watch>,
    pub(crate) items: BTreeMap<String, Reader>,
    /// How the provider is asked where two facts of one moment differ.
    pub(crate) tie: Option<Fetch>,
    pub(crate) fetches: BTreeMap<String, Fetch>,
}

/// What a source says of its own about a profile.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Options of the profile that are on.
    pub options: BTreeSet<String>,
    /// Zone of instants without offset, instead of the profile's.
    pub zone: Option<TimeZone>,
}

/// The statuses the receiver answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The event is stored (or was before).
    pub success: u16,
    /// The signature is refused.
    pub refusal: u16,
}

impl Profile {
    /// Parses and checks a profile; `file_name` is what the faults name.
    ///
    /// # Errors
    /// Everything that is wrong with the file, as far as it can be read.
    pub fn parse(file_name: &str, toml_text: &str) -> Result<Self, Vec<Fault>> {
        Self::parse_with(file_name, toml_text, &Setup::default())
    }

    /// As [`parse`](Self::parse), for a source with options and a zone of its own.
    ///
    /// # Errors
    /// As `parse`; besides, an option that the profile does not have.
    pub fn parse_with(file_name: &str, toml_text: &str, setup: &Setup) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::new(file_name);
        let spec = read_spec(toml_text).map_err(|(key, reason)| faults.add(key, reason));
        let profile = spec.ok().and_then(|spec| compile::profile(&spec, setup, &mut faults));
        faults.finish(profile, toml_text)
    }

    /// The provider's name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the provider leaves weak, one sentence each.
    pub fn weaknesses(&self) -> &[String] {
        &self.weaknesses
    }

    /// The addresses that the profile was written from.
    pub fn documentation(&self) -> &[String] {
        &self.documentation
    }

    /// How the provider signs.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The headers, in lower case, to keep beside the body: what verifying and reading it again needs.
    pub fn kept_headers(&self) -> &[String] {
        &self.kept_headers
    }

    /// The statuses the receiver answers with.
    pub fn answers(&self) -> Answers {
        self.answers
    }

    /// Whether a body of this content type is accepted (415 if not). Parameters and letter case do not matter.
    pub fn accepts(&self, content_type: Option<&str>) -> bool {
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        self.content_types.is_empty()
            || self.content_types.iter().any(|accepted| accepted.eq_ignore_ascii_case(essence))
    }

    /// The content types that are accepted; any when empty.
    pub fn content_types(&self) -> &[String] {
        &self.content_types
    }

    /// The provider's API, where the profile describes one.
    pub fn api(&self) -> Option<&Api> {
        self.api.as_ref()
    }

    /// How the subscription at the provider is looked after, where its API tells.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Each kind with each status that this profile can give it, for a check against the flows.
    pub fn statuses(&self) -> impl Iterator<Item = (&str, &str)> {
        let readers = std::iter::once(&self.event)
            .chain(self.api.as_ref().and_then(|api| api.item.as_ref()))
            .chain(self.items.values());
        readers.flat_map(Reader::statuses)
    }

    /// The options that a source may switch on, each with a sentence.
    pub fn options(&self) -> &BTreeMap<String, String> {
        &self.options
    }

    /// How long the provider repeats a delivery, where that is known.
    pub fn gives_up_after(&self) -> Option<Duration> {
        self.gives_up_after
    }

    /// Body of the success answer.
    pub fn success_body(&self) -> &str {
        &self.success_body
    }

    /// A named reader of the API's items, or the usual one.
    pub(crate) fn item_reader(&self, name: Option<&str>) -> Option<&Reader> {
        match name {
            Some(name) => self.items.get(name),
            None => self.api.as_ref().and_then(|api| api.item.as_ref()),
        }
    }
}

/// Reads the file's shape; otherwise the key and the reason why not.
fn read_spec(toml_text: &str) -> Result<ProfileSpec, (String, String)> {
    let explain = |error: &toml::de::Error| {
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        match error.span().and_then(|span| toml_text.get(..span.start)) {
            Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
            None => message,
        }
    };
    let document = toml::Deserializer::parse(toml_text).map_err(|error| (String::new(), explain(&error)))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let path = error.path().to_string();
        let key = if path == "." { String::new() } else { path };
        (key, explain(error.inner()))
    })
}
