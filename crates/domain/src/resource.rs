//! The row of one resource: the fold of all facts ever told about it.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use crate::{Fact, History, Value, Version};

/// A field's value with the version of the fact that set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The value in force.
    pub value: Value,
    /// Version of the fact that told it.
    pub version: Version,
}

/// All that is known of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The fold's status.
    pub status: String,
    /// Version of the newest fact the fold accepted.
    pub version: Version,
    /// What the fold is made of.
    pub history: History,
    /// Each field: the newest value that was ever told.
    pub fields: BTreeMap<String, Field>,
    /// Names of the effects written for it.
    pub effects_written: BTreeSet<String>,
    /// Sequence of the next effect.
    pub next_effect: i32,
}

impl Resource {
    /// Whether the row and the fact tell different things of one moment: another status at the same
    /// [`major`](Version::major), or another value of a field. What is known then comes from a rule and not from the
    /// provider.
    pub fn disputes(&self, fact: &Fact) -> bool {
        let major = fact.version.major;
        let other_status = self
            .history
            .entries()
            .iter()
            .any(|entry| entry.version.major == major && entry.status != fact.status);
        other_status
            || fact.fields.iter().any(|(name, value)| {
                self.fields
                    .get(name)
                    .is_some_and(|field| field.version.major == major && field.value != *value)
            })
    }

    /// Takes over the fields of a fact. A newer value wins over an older one whatever came first; of two
    /// values at one version the smaller wins, and of a field that grows the larger, so that the values settle it and
    /// not their arrival.
    pub(crate) fn merge_fields(&mut self, fact: &Fact) {
        for (name, value) in &fact.fields {
            let wins = self.fields.get(name).is_none_or(|field| match fact.version.cmp(&field.version) {
                Ordering::Equal if fact.growing.contains(name) => *value > field.value,
                Ordering::Equal => *value < field.value,
                newer => newer.is_gt(),
            });
            if wins {
                self.fields.insert(name.clone(), Field { value: value.clone(), version: fact.version });
            }
        }
    }
}
