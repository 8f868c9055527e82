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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// How the provider signs.
    pub(crate) verify: SchemeSpec,
    /// What the receiver does besides storing.
    #[serde(default)]
    pub(crate) receive: ReceiveSpec,
    /// How a webhook is read.
    pub(crate) event: EventSpec,
    /// What makes two deliveries the same event.
    #[serde(default)]
    pub(crate) dedup: DedupSpec,
    /// What orders the facts of one resource.
    pub(crate) version: VersionSpec,
    /// The provider's own list of resources.
    pub(crate) api: Option<ApiSpec>,
    /// Looking after the subscription at the provider.
    pub(crate) watch: Option<WatchSpec>,
    /// Single look-ups by name.
    #[serde(default)]
    pub(crate) fetch: BTreeMap<String, FetchSpec>,
}

/// `[receive]`: what the receiver does besides storing.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct HandshakeSpec {
    /// `POST` unless set, or `GET`.
    pub(crate) method: Option<String>,
    /// All must hold.
    #[serde(rename = "where")]
    pub(crate) conditions: Vec<ConditionSpec>,
    /// Whether the signature is checked first.
    #[serde(default = "yes")]
    pub(crate) signed: bool,
    /// Status of the answer.
    pub(crate) status: u16,
    /// Body of the answer: a text, or what is echoed.
    pub(crate) body: Option<AnswerSpec>,
}

fn yes() -> bool {
    true
}

/// A text, or what is echoed.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a text, or { query = \"name\" }")]
pub(crate) enum AnswerSpec {
    Text(String),
    Place(PlaceSpec),
}

/// A place and what must stand there.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ConditionSpec {
    /// The place, where it is more than one of the next three.
    #[serde(rename = "where")]
    pub(crate) inner: Option<PlaceSpec>,
    /// A dotted path in the body.
    pub(crate) path: Option<String>,
    /// A header of the request.
    pub(crate) header: Option<String>,
    /// A parameter of the request's query.
    pub(crate) query: Option<String>,
    /// Says that the author knows that the signature does not cover this header or parameter.
    #[serde(default)]
    pub(crate) unsigned: bool,
    /// What must stand there, or
    pub(crate) equals: Option<String>,
    /// whether anything must.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleSpec {
    /// Types that it is for, each exact or with `*` at its end.
    #[serde(default)]
    pub(crate) types: Vec<String>,
    /// It only matches where this expression is true.
    pub(crate) when: Option<String>,
    /// It only counts with this option of the source; `!name`: only without.
    pub(crate) option: Option<String>,
    /// What it is about, instead of the usual.
    pub(crate) kind: Option<String>,
    /// Where the resource's id stands, instead of the usual.
    pub(crate) resource: Option<PlaceSpec>,
    /// Where the sequence stands, instead of the usual.
    pub(crate) sequence: Option<PlaceSpec>,
    /// Where the instant stands, instead of the usual.
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    /// The status, fixed or read.
    pub(crate) status: Option<RuleStatusSpec>,
    /// Fields, instead of those of the same name.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, FieldSpec>,
    /// What makes two deliveries the same, instead of `[dedup]`.
    pub(crate) dedup: Option<DedupSpec>,
    /// Why what matches is authentic and not for us.
    pub(crate) ignore: Option<String>,
    /// Which look-up tells what happened.
    pub(crate) fetch: Option<String>,
}

/// The status that a rule gives.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a status, or { path = \"…\", map = { … } }")]
pub(crate) enum RuleStatusSpec {
    Fixed(String),
    Mapped(Box<StatusSpec>),
}

/// `[dedup]`: what makes two deliveries the same event.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct DedupSpec {
    /// What is done with deliveries that say the same.
    #[serde(default)]
    pub(crate) policy: Policy,
    /// Compositions in order; the first whose parts are all present is used.
    #[serde(default)]
    pub(crate) keys: Vec<Vec<PlaceSpec>>,
}

/// `[version]`: what orders the facts of one resource.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionSpec {
    /// What is newer than what.
    pub(crate) criterion: Criterion,
    /// What the provider's clock resolves.
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
