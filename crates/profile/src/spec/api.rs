//! The provider's API and its look-ups, as a profile writes them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{FieldSpec, InstantSpec, OneOrMany, PlaceSpec, RuleSpec, TablePlace, Unknown};
use crate::api::{Auth, SinceFormat};

/// `[api]`: the provider's own list of resources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSpec {
    pub(crate) auth: Auth,
    /// Headers sent with each call.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) list: Option<ListSpec>,
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
    /// Its values to ours.
    pub(crate) map: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) unknown: Unknown,
    #[serde(flatten)]
    place: TablePlace,
}

impl StatusSpec {
    /// The place alone.
    pub(crate) fn place(&self) -> PlaceSpec {
        PlaceSpec::Table(Box::new(self.place.clone()))
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
