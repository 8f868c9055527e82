//! Places, instants and fields, as a profile writes them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::field::FieldType;
use crate::instant::Epoch;

/// A place in the event.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// A place as a table: exactly one of path, header, query, constant, first, join, hash and cel, and what is done with
/// the text.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct TablePlace {
    /// A dotted path in the body.
    pub(crate) path: Option<String>,
    /// A header of the request.
    pub(crate) header: Option<String>,
    /// A parameter of the request's query.
    pub(crate) query: Option<String>,
    /// Always this text.
    pub(crate) constant: Option<String>,
    /// The first place that is there: not absent, null, nor empty.
    pub(crate) first: Option<Vec<PlaceSpec>>,
    /// All places, joined; absent if one is absent.
    pub(crate) join: Option<Vec<PlaceSpec>>,
    /// The SHA-256 of places, or of the body: only for parts of `dedup`.
    pub(crate) hash: Option<HashSpec>,
    /// Computed by an expression.
    pub(crate) cel: Option<String>,
    /// Says that the author knows that the signature does not cover this header or parameter.
    #[serde(default)]
    pub(crate) unsigned: bool,
    /// Between what `join` joins.
    pub(crate) separator: Option<String>,
    /// Whether the text is put into lower case.
    #[serde(default)]
    pub(crate) lower: bool,
    /// Whether the text is put into upper case.
    #[serde(default)]
    pub(crate) upper: bool,
    /// What is cut off the text's beginning.
    pub(crate) strip_prefix: Option<String>,
    /// The provider's words to ours; what is not in it is absent.
    pub(crate) map: Option<BTreeMap<String, String>>,
    /// Instead of what is absent.
    pub(crate) default: Option<String>,
}

/// What is hashed.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected \"body\" or a list of places")]
pub(crate) enum HashSpec {
    Body(String),
    Places(Vec<PlaceSpec>),
}

/// One value, or a list of them.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum InstantSpec {
    Own(OwnInstantSpec),
    Place(PlaceSpec),
}

/// An instant with its own zone or epoch unit, where one provider mixes several.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnInstantSpec {
    /// A dotted path in the body.
    pub(crate) path: String,
    /// Its zone, where it has no offset.
    pub(crate) zone: Option<String>,
    /// Its unit, where it is a number.
    pub(crate) epoch: Option<Epoch>,
}

/// One field of the fact: a place and a type.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldSpec {
    #[serde(flatten)]
    place: TablePlace,
    /// What it is.
    #[serde(rename = "type")]
    pub(crate) type_: FieldType,
    /// Where the currency of an amount stands.
    pub(crate) currency: Option<PlaceSpec>,
    /// Zone of an instant without offset.
    pub(crate) zone: Option<String>,
    /// Unit of an instant that is a number.
    pub(crate) epoch: Option<Epoch>,
    /// Whether it never falls at the provider, so that of two values at one version the larger is the later.
    #[serde(default)]
    pub(crate) grows: bool,
}

impl FieldSpec {
    /// The place alone.
    pub(crate) fn place(&self) -> PlaceSpec {
        PlaceSpec::Table(Box::new(self.place.clone()))
    }
}
