//! A profile, parsed and compiled.

use signature::Scheme;

use crate::api::Api;
use crate::compile;
use crate::dedup::Dedup;
use crate::fault::{Fault, Faults};
use crate::reader::Reader;
use crate::spec::ProfileSpec;
use crate::version::VersionRules;

/// What one provider's file says, ready to use.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: String,
    pub(crate) weaknesses: Vec<String>,
    pub(crate) scheme: Scheme,
    pub(crate) kept_headers: Vec<String>,
    pub(crate) answers: Answers,
    pub(crate) content_types: Vec<String>,
    pub(crate) event: Reader,
    pub(crate) dedup: Dedup,
    pub(crate) version: VersionRules,
    pub(crate) api: Option<Api>,
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
        let mut faults = Faults::new(file_name);
        let spec = read_spec(toml_text).map_err(|(key, reason)| faults.add(key, reason));
        let profile = spec.ok().and_then(|spec| compile::profile(&spec, &mut faults));
        faults.finish(profile)
    }

    /// The provider's name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the provider leaves weak, one sentence each.
    pub fn weaknesses(&self) -> &[String] {
        &self.weaknesses
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

    /// Each kind with each status that this profile can give it, for a check against the flows.
    pub fn statuses(&self) -> impl Iterator<Item = (&str, &str)> {
        let readers = std::iter::once(&self.event).chain(self.api.as_ref().map(|api| &api.item));
        readers
            .flat_map(|reader| reader.statuses.values().map(|status| (reader.kind.as_str(), status.as_str())))
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
