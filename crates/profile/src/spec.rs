//! The file format: what a profile's TOML may say, before anything is checked beyond its shape.
//!
//! Every table refuses keys it does not know, so that a misspelt key cannot be a silent default.

use std::collections::BTreeMap;

use serde::Deserialize;
use signature::SchemeSpec;

use crate::api::{Auth, SinceFormat};
use crate::decode::BodyForm;
use crate::dedup::Policy;
use crate::field::FieldType;
use crate::instant::{Epoch, Precision};
use crate::version::{Criterion, Tie};

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
    Mapped(StatusSpec),
}

/// A place in the event.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a path such as \"data.id\", or a table such as { header = \"name\", unsigned = true }"
)]
pub(crate) enum PlaceSpec {
    /// A dotted path in the body.
    Path(String),
    /// Anything else.
    Table(Box<TablePlace>),
}

/// A place as a table: exactly one of the first seven keys, and what is done with the text.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TablePlace {
    pub(crate) path: Option<String>,
    pub(crate) header: Option<String>,
    pub(crate) query: Option<String>,
    pub(crate) constant: Option<String>,
    pub(crate) first: Option<Vec<PlaceSpec>>,
    pub(crate) join: Option<Vec<PlaceSpec>>,
    pub(crate) hash: Option<HashSpec>,
    pub(crate) cel: Option<String>,
    /// Says that the author knows that the signature does not cover this header or parameter.
    #[serde(default)]
    pub(crate) unsigned: bool,
    pub(crate) separator: Option<String>,
    #[serde(default)]
    pub(crate) lower: bool,
    #[serde(default)]
    pub(crate) upper: bool,
    pub(crate) strip_prefix: Option<String>,
    pub(crate) map: Option<BTreeMap<String, String>>,
    pub(crate) default: Option<String>,
}

/// What is hashed.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected \"body\" or a list of places")]
pub(crate) enum HashSpec {
    Body(String),
    Places(Vec<PlaceSpec>),
}

/// One value, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a path, { path = \"…\", zone = \"…\", epoch = \"…\" }, or a list of these"
)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> OneOrMany<T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// A place with an instant, and what that place's spelling leaves out.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum InstantSpec {
    Own(OwnInstantSpec),
    Place(PlaceSpec),
}

/// An instant with its own zone or epoch unit, where one provider mixes several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnInstantSpec {
    pub(crate) path: String,
    pub(crate) zone: Option<String>,
    pub(crate) epoch: Option<Epoch>,
}

/// One field of the fact: a place and a type.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldSpec {
    pub(crate) path: Option<String>,
    pub(crate) header: Option<String>,
    pub(crate) query: Option<String>,
    pub(crate) constant: Option<String>,
    pub(crate) first: Option<Vec<PlaceSpec>>,
    pub(crate) join: Option<Vec<PlaceSpec>>,
    pub(crate) cel: Option<String>,
    #[serde(default)]
    pub(crate) unsigned: bool,
    pub(crate) separator: Option<String>,
    #[serde(default)]
    pub(crate) lower: bool,
    #[serde(default)]
    pub(crate) upper: bool,
    pub(crate) strip_prefix: Option<String>,
    pub(crate) map: Option<BTreeMap<String, String>>,
    pub(crate) default: Option<String>,
    #[serde(rename = "type")]
    pub(crate) type_: FieldType,
    /// Where the currency of an amount stands.
    pub(crate) currency: Option<PlaceSpec>,
    pub(crate) zone: Option<String>,
    pub(crate) epoch: Option<Epoch>,
}

impl FieldSpec {
    /// The place alone.
    pub(crate) fn place(&self) -> PlaceSpec {
        PlaceSpec::Table(Box::new(TablePlace {
            path: self.path.clone(),
            header: self.header.clone(),
            query: self.query.clone(),
            constant: self.constant.clone(),
            first: self.first.clone(),
            join: self.join.clone(),
            hash: None,
            cel: self.cel.clone(),
            unsigned: self.unsigned,
            separator: self.separator.clone(),
            lower: self.lower,
            upper: self.upper,
            strip_prefix: self.strip_prefix.clone(),
            map: self.map.clone(),
            default: self.default.clone(),
        }))
    }
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

/// `[api]`: the provider's own list of resources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSpec {
    pub(crate) auth: Auth,
    /// Headers sent with each call.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) list: ListSpec,
    pub(crate) get: Option<GetSpec>,
    pub(crate) item: ItemSpec,
    /// Further readers, by name.
    #[serde(default)]
    pub(crate) items: BTreeMap<String, ItemSpec>,
}

/// `[api.list]`: reading what changed since an instant, page by page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSpec {
    pub(crate) path: String,
    pub(crate) since_param: String,
    #[serde(default)]
    pub(crate) since_format: SinceFormat,
    pub(crate) limit_param: Option<String>,
    #[serde(default = "hundred")]
    pub(crate) limit: u32,
    /// Where the items stand in the answer; empty when the answer is the list itself.
    pub(crate) items: String,
    pub(crate) paging: PagingSpec,
    /// Whether the provider promises that the list ascends by the instant it was changed at.
    #[serde(default)]
    pub(crate) sorted: bool,
    /// Parameters that are always sent.
    #[serde(default)]
    pub(crate) query: BTreeMap<String, String>,
}

fn hundred() -> u32 {
    100
}

/// `paging = { style = "…", … }`.
#[derive(Debug, Deserialize)]
#[serde(tag = "style", rename_all = "kebab-case")]
pub(crate) enum PagingSpec {
    Token(TokenSpec),
    Page(NumberedSpec),
    Offset(OffsetSpec),
}

/// Pages have numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberedSpec {
    pub(crate) param: String,
    #[serde(default = "one")]
    pub(crate) first: u64,
}

fn one() -> u64 {
    1
}

/// Pages start so many items from the first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OffsetSpec {
    pub(crate) param: String,
}

/// The answer names the next page by a token.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenSpec {
    pub(crate) param: String,
    pub(crate) next: String,
}

/// `[api.get]`: reading one resource.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSpec {
    pub(crate) path: String,
    /// Where the resource stands in the answer; empty when the answer is the resource itself.
    #[serde(default)]
    pub(crate) item: String,
}

/// `[api.item]`: how to read one resource of the API.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemSpec {
    /// What the items are; the kind of the events unless set.
    pub(crate) kind: Option<String>,
    pub(crate) resource: PlaceSpec,
    pub(crate) sequence: Option<PlaceSpec>,
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    pub(crate) status: Option<StatusSpec>,
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, FieldSpec>,
    /// What is said of which items, instead of `status`.
    #[serde(default)]
    pub(crate) rules: Vec<RuleSpec>,
}

/// A status that is read: a place, and its values to ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusSpec {
    pub(crate) path: Option<String>,
    pub(crate) first: Option<Vec<PlaceSpec>>,
    pub(crate) cel: Option<String>,
    pub(crate) map: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) unknown: Unknown,
}

impl StatusSpec {
    pub(crate) fn place(&self) -> PlaceSpec {
        PlaceSpec::Table(Box::new(TablePlace {
            path: self.path.clone(),
            first: self.first.clone(),
            cel: self.cel.clone(),
            ..TablePlace::default()
        }))
    }
}

/// `[fetch.NAME]`: one look-up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchSpec {
    pub(crate) path: String,
    /// Which of `[api.items]` reads the answer; `[api.item]` unless set.
    pub(crate) reader: Option<String>,
    pub(crate) item: Option<String>,
    pub(crate) items: Option<String>,
    pub(crate) missing: Option<Vec<u16>>,
    pub(crate) missing_for: Option<String>,
    pub(crate) settle: Option<String>,
    pub(crate) delay: Option<String>,
}
