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
    /// How a call says who we are.
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
    /// Reading one resource.
    pub(crate) get: Option<GetSpec>,
    /// Reading known resources again one by one, where no list tells of their changes.
    pub(crate) reread: Option<RereadSpec>,
    /// How the provider tells how much may be asked.
    #[serde(default)]
    pub(crate) rate: RateSpec,
    /// How one resource is read.
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
    /// The path, with `{id}` in it.
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
    /// Which kind; the usual one unless set.
    pub(crate) kind: Option<String>,
    /// Resources in these statuses are open.
    pub(crate) statuses: Vec<String>,
    /// Wait between two rounds, such as `"10m"`.
    pub(crate) every: String,
    /// Those that were first seen longer ago are left alone.
    pub(crate) max_age: String,
}

/// `rate = { … }`: how the provider tells how much may be asked.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RateSpec {
    /// Header with `used/size`.
    pub(crate) bucket: Option<String>,
    /// Header with the calls that are left.
    pub(crate) remaining: Option<String>,
    /// Header that tells when there are more.
    pub(crate) reset: Option<String>,
    /// How that is written.
    #[serde(default)]
    pub(crate) reset_unit: ResetUnit,
    /// Wait after a refusal that does not tell how long.
    pub(crate) pause: Option<String>,
}

/// `[api.item]`: how to read one resource of the API.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ItemSpec {
    /// What the items are; the kind of the events unless set.
    pub(crate) kind: Option<String>,
    /// Where the resource's id stands.
    pub(crate) resource: PlaceSpec,
    /// Where its sequence stands.
    pub(crate) sequence: Option<PlaceSpec>,
    /// Where the instant of its last change stands; the first place that has one counts.
    #[serde(default)]
    pub(crate) instant: OneOrMany<InstantSpec>,
    /// Where its status stands, and its values to ours.
    pub(crate) status: Option<StatusSpec>,
    /// Our field names to where they stand.
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
    /// What becomes of a value that is not in the map.
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
    /// The path, with `{id}` in it; `{constant:NAME}` and a query may stand there.
    pub(crate) path: String,
    /// Which of `[api.items]` reads the answer; `[api.item]` unless set.
    pub(crate) reader: Option<String>,
    /// How the answer is written.
    #[serde(default)]
    pub(crate) answer: AnswerForm,
    /// Where the resource stands in the answer; empty: it is the answer.
    pub(crate) item: Option<String>,
    /// Where a list of them stands instead.
    pub(crate) items: Option<String>,
    /// Statuses that mean that there is no such thing; `[404]` unless set.
    pub(crate) missing: Option<Vec<u16>>,
    /// How long they are asked again before they are believed; `"2m"` unless set.
    pub(crate) missing_for: Option<String>,
    /// How long an answer below the rule's status is asked again; `"2m"` unless set.
    pub(crate) settle: Option<String>,
    /// Wait before the first read; none unless set.
    pub(crate) delay: Option<String>,
}
