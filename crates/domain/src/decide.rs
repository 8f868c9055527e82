//! The decision: what one more fact does to a resource. Total, pure, no clock.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

use crate::{Fact, Flow, History, NewEffect, Resource, effect::add_due_effects};

/// What became of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is newer than the row, or it changed the row's status although it is older.
    Applied,
    /// It is not newer than the row and changes no status; it may still have filled a field.
    Stale,
    /// It is newer but would leave a terminal status by an exit the flow does not list.
    TerminalRegression,
}

impl Outcome {
    /// The name in tables, views and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Stale => "stale",
            Self::TerminalRegression => "terminal_regression",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A real change of a row's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The status left; `None` for the first fact of a resource.
    pub from: Option<String>,
    /// The status entered.
    pub to: String,
}

/// The whole answer to one fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The resource as it is now.
    pub resource: Resource,
    /// What became of the fact.
    pub outcome: Outcome,
    /// Set when the status of the row really changed.
    pub transition: Option<Transition>,
    /// The fact's status, if it was never known before.
    pub reached: Option<String>,
    /// Set when an older fact made the row final under a newer one that had been followed so far: that one's status.
    /// Whatever was done for it may have to be undone by people.
    pub overruled: Option<String>,
    /// What to write to the outbox, in order.
    pub effects: Vec<NewEffect>,
}

/// Folds one more fact into what is known.
///
/// The resulting status, version, history and fields depend only on the *set* of facts handed in so far,
/// not on their order, number or grouping. Effects on `enter` follow the way the row really went; effects
/// on `reached` without guards depend only on the set.
pub fn decide(current: Option<&Resource>, fact: &Fact, flow: &Flow) -> Decision {
    let mut resource = current.cloned().unwrap_or_else(|| blank(fact));
    let reached = (!resource.history.reached(&fact.status)).then(|| fact.status.clone());
    resource.history.insert(fact.version, &fact.status, flow);
    if let Some(folded) = resource.history.fold(flow) {
        let (status, version) = (folded.status.to_owned(), folded.version);
        (resource.status, resource.version) = (status, version);
    }
    resource.merge_fields(fact);

    let transition = transition(current, &resource);
    let outcome = outcome(current, fact, &resource, transition.is_some());
    let overruled = overruled(current, &resource).map(str::to_owned);
    let mut decision = Decision { resource, outcome, transition, reached, overruled, effects: Vec::new() };
    add_due_effects(&mut decision, current, flow.effects(), fact);
    decision
}

fn blank(fact: &Fact) -> Resource {
    Resource {
        status: fact.status.clone(),
        version: fact.version,
        history: History::default(),
        fields: BTreeMap::new(),
        effects_written: BTreeSet::new(),
        next_effect: 0,
    }
}

fn transition(before: Option<&Resource>, after: &Resource) -> Option<Transition> {
    let from = before.map(|resource| resource.status.clone());
    (from.as_ref() != Some(&after.status)).then(|| Transition { from, to: after.status.clone() })
}

fn overruled<'a>(before: Option<&Resource>, after: &'a Resource) -> Option<&'a str> {
    // A fact that is itself the newest and refused is a terminal regression.
    let followed =
        |row: &Resource| row.history.entries().last().is_some_and(|last| last.version == row.version);
    let newest = after.history.entries().last()?;
    (before.is_some_and(followed)
        && before.map(|row| row.version) == Some(newest.version)
        && !followed(after))
    .then_some(newest.status.as_str())
}

fn outcome(before: Option<&Resource>, fact: &Fact, after: &Resource, moved: bool) -> Outcome {
    let newer = before.is_none_or(|resource| fact.version > resource.version);
    match (moved, newer) {
        (true, _) => Outcome::Applied,
        (false, true) if after.status != fact.status => Outcome::TerminalRegression,
        (false, true) => Outcome::Applied,
        (false, false) => Outcome::Stale,
    }
}
