//! The file format: what a profile's TOML may say, before anything is checked beyond its shape.
//!
//! Every table refuses keys it does not know, so that a misspelt key cannot be a silent default.

use std::collections::BTreeMap;

use serde::Deserialize;
use signature::SchemeSpec;

use crate::decode::BodyForm;
use crate::dedup::Policy;
use crate::instant::{Epoch, Precision};
use crate::version::{Criterion, Tie};

mod api;
mod list;
mod place;
mod watch;

pub(crate) use api::*;
pub(crate) use list::*;
pub(crate) use place::*;
pub(crate) use watch::*;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileSpec {
    /// The provider's name for people.
    pub(crate) name: String,
    /// The addresses that the profile was written from.
    #[serde(default)]
    pub(crate) documentation: Vec<String>,
    /// What the provider leaves weak, one sentence each.
    #[serde(default)]
    pub(crate) weaknesses: Vec<String>,
    /// How long the provider repeats a delivery.
    pub(crate) gives_up_after: Option<String>,
    /// What a source may switch on, each with a sentence.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) verify: SchemeSpec,
    #[serde(default)]
    pub(crate) receive: ReceiveSpec,
    pub(crate) event: EventSpec,
    #[serde(default)]
    pub(crate) dedup: DedupSpec,
    pub(crate) version: VersionSpec,
    pub(crate) api: Option<ApiSpec>,
    pub(crate) watch: Option<WatchSpec>,
    /// Single look-ups by name.
    #[serde(default)]
    pub(crate) fetch: BTreeMap<String, FetchSpec>,
}

/// `[receive]`: what the receiver does besides storing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReceiveSpec {
    /// Status that tells the provider that its event is stored.
    pub(crate) success: Option<u16>,
    /// Status for a refused signature.
    pub(crate) refusal: Option<u16>,
    /// Content types that are accepted; any when empty.
    #[serde(default)]
    pub(crate) content_types: Vec<String>,
    /// Headers to keep beside the body, besides those that verifying and reading need.
    #[serde(default)]
    pub(crate) keep_headers: Vec<String>,
    /// Body of the success answer.
    pub(crate) success_body: Option<String>,
    /// How bodies are written.
    #[serde(default)]
    pub(crate) body: BodyForm,
    /// A form field that holds the JSON.
    pub(crate) unwrap: Option<String>,
    /// Charset of bodies that do not name one.
    pub(crate) charset: Option<String>,
    /// Where the events of one request stand.
    pub(crate) split: Option<String>,
    /// Paths that are blanked in what people are shown.
    #[serde(default)]
    pub(crate) redact: Vec<String>,
    /// Requests that are no event.
    #[serde(default)]
    pub(crate) handshakes: Vec<HandshakeSpec>,
}

/// `[[receive.handshakes]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandshakeSpec {
    pub(crate) method: Option<String>,
    /// All must hold.
    #[serde(rename = "where")]
    pub(crate) conditions: Vec<ConditionSpec>,
    #[serde(default = "yes")]
    pub(crate) signed: bool,
    pub(crate) status: u16,
    pub(crate) body: Option<AnswerSpec>,
}

fn yes() -> bool {
    true
}

/// A text, or what is echoed.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text, or { query = \"name\" }")]
pub(crate) enum AnswerSpec {
    Text(String),
    Place(PlaceSpec),
}

/// A place and what must stand there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConditionSpec {
    #[serde(rename = "where")]
    pub(crate) inner: Option<PlaceSpec>,
    pub(crate) path: Option<String>,
    pub(crate) header: Option<String>,
    pub(crate) query: Option<String>,
    #[serde(default)]
    pub(crate) unsigned: bool,
    pub(crate) equals: Option<String>,
    pub(crate) present: Option<bool>,
}

impl ConditionSpec {
    /// The place, if exactly one is named.
    pub(crate) fn place(&self) -> Option<PlaceSpec> {
        let table = TablePlace {
            path: self.path.clone(),
            header: self.header.clone(),
            query: self.query.clone(),
            unsigned: self.unsigned,
            ..TablePlace::default()
        };
        let named = self.path.iter().chain(&self.header).chain(&self.query).count();
        match (&self.inner, named) {
            (Some(place), 0) => Some(place.clone()),
            (None, 1) => Some(PlaceSpec::Table(Box::new(table))),
            _ => None,
        }
    }
}

/// `[event]`: how to read a webhook.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventSpec {
    /// What the events are about.
    pub(crate) kind: String,
    /// Where the event's type stands.
    #[serde(rename = "type")]
    pub(crate) type_: PlaceSpec,
    /// What becomes of a type that no rule matches.
    #[serde(default)]
    pub(crate) unknown: Unknown,
    /// Where the resource's id stands.
    pub(crate) resource: PlaceSpec,
    /// Where the sequence of the resource stands.
    pub(crate) sequence: Option<PlaceSpec>,
    /// Where the instant of the fact stands; the first place that has one counts.
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    /// Event type to status.
    #[serde(default)]
    pub(crate) status: BTreeMap<String, String>,
    /// Our field names to where they stand.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, FieldSpec>,
    /// Marks of test events, any of which is enough.
    #[serde(default)]
    pub(crate) test: Vec<ConditionSpec>,
    /// What is said of which types; the first that matches counts.
    #[serde(default)]
    pub(crate) rules: Vec<RuleSpec>,
}

/// What becomes of a value that is not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unknown {
    /// Authentic, and not for us.
    #[default]
    Ignore,
    /// Set aside.
    Malformed,
}

/// `[[event.rules]]`, and `[[api.item.rules]]` without types.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleSpec {
    #[serde(default)]
    pub(crate) types: Vec<String>,
    pub(crate) when: Option<String>,
    pub(crate) option: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) resource: Option<PlaceSpec>,
    pub(crate) sequence: Option<PlaceSpec>,
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    pub(crate) status: Option<RuleStatusSpec>,
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, FieldSpec>,
    pub(crate) dedup: Option<DedupSpec>,
    pub(crate) ignore: Option<String>,
    pub(crate) fetch: Option<String>,
}

/// The status that a rule gives.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a status, or { path = \"…\", map = { … } }")]
pub(crate) enum RuleStatusSpec {
    Fixed(String),
    Mapped(Box<StatusSpec>),
}

/// `[dedup]`: what makes two deliveries the same event.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DedupSpec {
    #[serde(default)]
    pub(crate) policy: Policy,
    /// Compositions in order; the first whose parts are all present is used.
    #[serde(default)]
    pub(crate) keys: Vec<Vec<PlaceSpec>>,
}

/// `[version]`: what orders the facts of one resource.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionSpec {
    pub(crate) criterion: Criterion,
    #[serde(default)]
    pub(crate) precision: Precision,
    /// Zone of instants without offset.
    pub(crate) zone: Option<String>,
    /// Unit of instants given as numbers; told from their length unless set.
    pub(crate) epoch: Option<Epoch>,
    /// How far an instant may lie ahead of the event's arrival.
    pub(crate) future_tolerance: Option<String>,
    /// What settles equal versions of other content.
    #[serde(default)]
    pub(crate) tie: Tie,
}
