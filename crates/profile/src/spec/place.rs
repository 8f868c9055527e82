//! Places, instants and fields, as a profile writes them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::field::FieldType;
use crate::instant::Epoch;

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
    #[serde(flatten)]
    place: TablePlace,
    #[serde(rename = "type")]
    pub(crate) type_: FieldType,
    /// Where the currency of an amount stands.
    pub(crate) currency: Option<PlaceSpec>,
    pub(crate) zone: Option<String>,
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
