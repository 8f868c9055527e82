//! The row of a resource.

use std::collections::BTreeMap;

use domain::{Resource, Value};
use jiff::Timestamp;
use serde::Serialize;

use super::{Pair, pair};

/// What is known of the resource now.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) status: String,
    pub(crate) version: Pair,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
    /// Each field with the version of the fact that set it.
    pub(crate) fields: BTreeMap<String, Field>,
    /// What the fold is made of, in the order of facts.
    pub(crate) history: Vec<Entry>,
}

/// A field.
#[derive(Debug, Serialize)]
pub(crate) struct Field {
    pub(crate) value: Value,
    pub(crate) version: Pair,
}

/// A status at a version.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) version: Pair,
    pub(crate) status: String,
}

impl Row {
    /// The row as it was loaded.
    pub(crate) fn of(resource: &Resource, times: Option<(Timestamp, Timestamp)>) -> Self {
        let field = |(name, field): (&String, &domain::Field)| {
            (name.clone(), Field { value: field.value.clone(), version: pair(field.version) })
        };
        let entry =
            |entry: &domain::Entry| Entry { version: pair(entry.version), status: entry.status.clone() };
        Self {
            status: resource.status.clone(),
            version: pair(resource.version),
            created_at: times.map(|(created, _)| created),
            updated_at: times.map(|(_, updated)| updated),
            fields: resource.fields.iter().map(field).collect(),
            history: resource.history.entries().iter().map(entry).collect(),
        }
    }
}
