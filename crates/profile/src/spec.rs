//! The file format: what a profile's TOML may say, before anything is checked beyond its shape.
//!
//! Every table refuses keys it does not know, so that a misspelt key cannot be a silent default.

use std::collections::BTreeMap;

use serde::Deserialize;
use signature::SchemeSpec;

use crate::api::{Auth, SinceFormat};
use crate::field::FieldType;
use crate::instant::{Epoch, Precision};
use crate::version::Criterion;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileSpec {
    /// The provider's name for people.
    pub(crate) name: String,
    /// What the provider leaves weak, one sentence each.
    #[serde(default)]
    pub(crate) weaknesses: Vec<String>,
    pub(crate) verify: SchemeSpec,
    #[serde(default)]
    pub(crate) receive: ReceiveSpec,
    pub(crate) event: EventSpec,
    pub(crate) dedup: DedupSpec,
    pub(crate) version: VersionSpec,
    pub(crate) api: Option<ApiSpec>,
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
    /// Where the resource's id stands.
    pub(crate) resource: PlaceSpec,
    /// Where the sequence of the resource stands.
    pub(crate) sequence: Option<PlaceSpec>,
    /// Where the instant of the fact stands; the first place that has one counts.
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    /// Event type to status.
    pub(crate) status: BTreeMap<String, String>,
    /// Our field names to where they stand.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, FieldSpec>,
    /// Marks of test events, any of which is enough.
    #[serde(default)]
    pub(crate) test: Vec<TestSpec>,
}

/// A place in the event: a path in the body, or a header.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a path such as \"data.id\", or { header = \"name\", unsigned = true }"
)]
pub(crate) enum PlaceSpec {
    /// A dotted path in the body.
    Path(String),
    /// A header.
    Header(HeaderSpec),
}

/// A header as a place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderSpec {
    pub(crate) header: String,
    /// Says that the author knows that the signature does not cover this header.
    #[serde(default)]
    pub(crate) unsigned: bool,
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
    Place(PlaceSpec),
    Own(OwnInstantSpec),
}

/// An instant with its own zone or epoch unit, where one provider mixes several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnInstantSpec {
    pub(crate) path: String,
    pub(crate) zone: Option<String>,
    pub(crate) epoch: Option<Epoch>,
}

/// One field of the fact.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldSpec {
    pub(crate) path: String,
    #[serde(rename = "type")]
    pub(crate) type_: FieldType,
}

/// A mark of a test event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestSpec {
    #[serde(rename = "where")]
    pub(crate) place: PlaceSpec,
    pub(crate) equals: String,
}

/// `[dedup]`: what makes two deliveries the same event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DedupSpec {
    /// Compositions in order; the first whose parts are all present is used.
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
}

/// `[api]`: the provider's own list of resources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSpec {
    pub(crate) auth: Auth,
    pub(crate) list: ListSpec,
    pub(crate) get: Option<GetSpec>,
    pub(crate) item: ItemSpec,
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
    pub(crate) resource: String,
    pub(crate) sequence: Option<String>,
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    pub(crate) status: StatusSpec,
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, FieldSpec>,
}

/// The status of an item: a path, and its values to ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusSpec {
    pub(crate) path: String,
    pub(crate) map: BTreeMap<String, String>,
}
