//! The provider's API and its look-ups, as a profile writes them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{FieldSpec, InstantSpec, ListSpec, OneOrMany, PlaceSpec, RuleSpec, TablePlace, Unknown};
use crate::auth::Auth;
use crate::rate::ResetUnit;

/// `[api]`: the provider's own list of resources.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSpec {
    #[cfg_attr(feature = "schema", schemars(with = "crate::auth::AuthSpec"))]
    pub(crate) auth: Auth,
    /// Headers sent with each call.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The one list, or
    pub(crate) list: Option<ListSpec>,
    /// several.
    #[serde(default)]
    pub(crate) lists: Vec<ListSpec>,
    pub(crate) get: Option<GetSpec>,
    pub(crate) reread: Option<RereadSpec>,
    #[serde(default)]
    pub(crate) rate: RateSpec,
    pub(crate) item: Option<ItemSpec>,
    /// Further readers, by name.
    #[serde(default)]
    pub(crate) items: BTreeMap<String, ItemSpec>,
}

/// `[api.get]`: reading one resource.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSpec {
    pub(crate) path: String,
    /// Where the resource stands in the answer; empty when the answer is the resource itself.
    pub(crate) item: Option<String>,
    /// Where a list of them stands instead.
    pub(crate) items: Option<String>,
}

/// `[api.reread]`: reading open resources again one by one.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RereadSpec {
    pub(crate) kind: Option<String>,
    pub(crate) statuses: Vec<String>,
    pub(crate) every: String,
    pub(crate) max_age: String,
}

/// `rate = { … }`: how the provider tells how much may be asked.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RateSpec {
    pub(crate) bucket: Option<String>,
    pub(crate) remaining: Option<String>,
    pub(crate) reset: Option<String>,
    #[serde(default)]
    pub(crate) reset_unit: ResetUnit,
    pub(crate) pause: Option<String>,
}

/// `[api.item]`: how to read one resource of the API.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// How answers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerForm {
    #[default]
    Json,
    Xml,
}

/// `[fetch.NAME]`: one look-up.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchSpec {
    pub(crate) path: String,
    /// Which of `[api.items]` reads the answer; `[api.item]` unless set.
    pub(crate) reader: Option<String>,
    #[serde(default)]
    pub(crate) answer: AnswerForm,
    pub(crate) item: Option<String>,
    pub(crate) items: Option<String>,
    pub(crate) missing: Option<Vec<u16>>,
    pub(crate) missing_for: Option<String>,
    pub(crate) settle: Option<String>,
    pub(crate) delay: Option<String>,
}
