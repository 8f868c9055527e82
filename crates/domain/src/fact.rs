//! An event understood: which resource, which status, which version, which fields.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use crate::Version;

/// Names one resource. Ids are text exactly as the provider wrote them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceId {
    /// The configured inbound endpoint it came by.
    pub source: String,
    /// What it is: `order`, `sale`, `subscription`, …
    pub kind: String,
    /// The provider's id of it.
    pub id: String,
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.source, self.kind, self.id)
    }
}

/// A field's value. The order of values settles ties between facts of one version, see [`crate::Resource`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A whole number; money is one, in minor units.
    Integer(i64),
    /// Text, also instants and decimals that must stay exact.
    Text(String),
}

/// One thing a provider said about one resource, with no doubt left in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Orders this fact among those of the same resource.
    pub version: Version,
    /// The status it tells, by its name in the flow.
    pub status: String,
    /// The fields it tells. What it leaves out or calls null is not in here.
    pub fields: BTreeMap<String, Value>,
    /// Those of its fields that never fall at the provider, such as the sum of all refunds. All facts of a source agree
    /// on them.
    pub growing: BTreeSet<String>,
    /// The provider's name for the event.
    pub event_type: String,
    /// What makes two deliveries the same event.
    pub event_key: String,
}
