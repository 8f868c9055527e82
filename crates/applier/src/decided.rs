//! Decides a batch in memory: what to write, and nothing written yet.

use std::collections::{HashMap, HashSet};

use db::{
    inbox::{Claimed, EventOutcome, EventVerdict},
    outbox::EffectToWrite,
};
use domain::{Decision, Fact, Flow, NewEffect, Resource, ResourceId, decide};
use profile::Reading;
use uuid::Uuid;

/// An event with what it means.
pub(crate) struct Read {
    pub(crate) event: Claimed,
    pub(crate) reading: Result<Reading, String>,
}

impl Read {
    /// Whether it tells something about one of these resources.
    pub(crate) fn is_about(&self, resources: &HashSet<ResourceId>) -> bool {
        matches!(&self.reading, Ok(Reading::Fact { resource, .. }) if resources.contains(resource))
    }
}

/// An effect with the row as it was when the effect was born.
struct Born {
    resource: ResourceId,
    effect: NewEffect,
    event_id: Uuid,
    snapshot: Resource,
}

/// All that a batch writes.
#[derive(Default)]
pub(crate) struct Decided {
    rows: HashMap<ResourceId, Resource>,
    changed: HashSet<ResourceId>,
    effects: Vec<Born>,
    pub(crate) outcomes: Vec<EventOutcome>,
    /// Events whose attempt failed, with the reason.
    pub(crate) failed: Vec<(Claimed, String)>,
}

/// The resources that the events are about.
pub(crate) fn resources(events: &[Read]) -> Vec<ResourceId> {
    let distinct: HashSet<&ResourceId> = events
        .iter()
        .filter_map(|read| match &read.reading {
            Ok(Reading::Fact { resource, .. }) => Some(resource),
            _ => None,
        })
        .collect();
    distinct.into_iter().cloned().collect()
}

/// Decides the events one after the other, in their order of arrival, as if each had a transaction of its own.
pub(crate) fn decide_all<'f>(
    events: Vec<Read>,
    rows: HashMap<ResourceId, Resource>,
    flow_of: impl Fn(&str) -> Option<&'f Flow>,
) -> Decided {
    let mut decided = Decided { rows, ..Decided::default() };
    for Read { event, reading } in events {
        match reading {
            Ok(Reading::Fact { resource, fact }) => match flow_of(&resource.kind) {
                Some(flow) => decided.fact(&event, resource, &fact, flow),
                None => {
                    let error = format!(
                        "no flow for kind \"{}\": add [flows.{0}], then it is tried again",
                        resource.kind
                    );
                    decided.failed.push((event, error));
                }
            },
            Ok(Reading::Fetch { resource, fetch, .. }) => {
                let reason =
                    format!("{} has to be asked for by [fetch.{fetch}], which is not built yet", resource.id);
                decided.failed.push((event, reason));
            }
            Ok(Reading::Ignored(reason)) => decided.set_aside(&event, EventVerdict::Ignored, reason),
            Ok(Reading::Test(reason)) => decided.set_aside(&event, EventVerdict::Test, reason),
            Ok(Reading::Malformed(reason)) => decided.set_aside(&event, EventVerdict::Malformed, reason),
            Err(error) => decided.failed.push((event, error)),
        }
    }
    decided
}

impl Decided {
    fn fact(&mut self, event: &Claimed, id: ResourceId, fact: &Fact, flow: &Flow) {
        let current = self.rows.get(&id);
        let decision = decide(current, fact, flow);
        let changed = current != Some(&decision.resource);
        self.outcomes.push(outcome(event, fact, &decision));
        let Decision { resource, effects, .. } = decision;
        self.effects.extend(effects.into_iter().map(|effect| Born {
            resource: id.clone(),
            effect,
            event_id: event.event_id,
            snapshot: resource.clone(),
        }));
        if changed {
            self.changed.insert(id.clone());
            self.rows.insert(id, resource);
        }
    }

    fn set_aside(&mut self, event: &Claimed, verdict: EventVerdict, reason: String) {
        self.outcomes.push(EventOutcome {
            event_id: event.event_id,
            verdict,
            reason: Some(reason.replace('\0', "\u{fffd}")),
            status_from: None,
            status_to: None,
            attempts: event.attempts + 1,
        });
    }

    /// The rows to save.
    pub(crate) fn rows(&self) -> Vec<(&ResourceId, &Resource)> {
        self.changed.iter().filter_map(|id| self.rows.get_key_value(id)).collect()
    }

    /// The effects to write, in the order in which they were born.
    pub(crate) fn effects(&self, now: jiff::Timestamp) -> Vec<EffectToWrite<'_>> {
        self.effects
            .iter()
            .enumerate()
            .map(|(at, born)| EffectToWrite {
                effect_id: db::ids::new_id_in_order(now, at),
                resource_id: &born.resource,
                effect: born.effect.clone(),
                event_id: born.event_id,
                snapshot: born.snapshot.clone(),
            })
            .collect()
    }
}

fn outcome(event: &Claimed, fact: &Fact, decision: &Decision) -> EventOutcome {
    let reason = match decision.outcome {
        domain::Outcome::TerminalRegression => Some(format!(
            "\"{}\" is terminal and does not lead to \"{}\"",
            decision.resource.status, fact.status
        )),
        domain::Outcome::Applied | domain::Outcome::Stale => None,
    };
    let moved = decision.transition.as_ref();
    EventOutcome {
        event_id: event.event_id,
        verdict: EventVerdict::Decided(decision.outcome),
        reason,
        status_from: moved.and_then(|moved| moved.from.clone()),
        status_to: moved.map(|moved| moved.to.clone()),
        attempts: event.attempts + 1,
    }
}
