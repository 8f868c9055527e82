//! Decides a batch in memory: what to write, and nothing written yet.

use std::collections::{HashMap, HashSet};

use db::{
    inbox::{Claimed, EventOutcome, EventVerdict},
    outbox::EffectToWrite,
};
use domain::{Decision, Fact, Flow, NewEffect, Resource, ResourceId, decide};
use profile::{Reading, TIE};
use uuid::Uuid;

/// An event with what it means.
pub(crate) struct Read {
    pub(crate) event: Claimed,
    /// One, or one for each resource in the answer of a look-up; never empty.
    pub(crate) readings: Result<Vec<Reading>, String>,
}

impl Read {
    /// Whether it tells something about one of these resources.
    pub(crate) fn is_about(&self, resources: &HashSet<ResourceId>) -> bool {
        self.facts().any(|(resource, _)| resources.contains(resource))
    }

    fn facts(&self) -> impl Iterator<Item = (&ResourceId, &Fact)> {
        self.readings.iter().flatten().filter_map(|reading| match reading {
            Reading::Fact { resource, fact } => Some((resource, fact)),
            _ => None,
        })
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
    /// Rows that an older fact made final, against a newer one.
    pub(crate) overruled: Vec<Overruled>,
    /// Events that wait for the provider's own word.
    pub(crate) asked: Vec<Asked>,
    /// Events that had an answer.
    pub(crate) answered: Vec<Uuid>,
}

/// A row that an older fact made final.
pub(crate) struct Overruled {
    pub(crate) resource: ResourceId,
    /// The status that it had by a newer fact.
    pub(crate) newer: String,
}

/// A look-up that an event needs.
pub(crate) struct Asked {
    pub(crate) event_id: Uuid,
    pub(crate) source: String,
    pub(crate) fetch: String,
    pub(crate) resource_id: String,
    pub(crate) expect: Option<String>,
}

/// The resources that the events are about.
pub(crate) fn resources(events: &[Read]) -> Vec<ResourceId> {
    let distinct: HashSet<&ResourceId> =
        events.iter().flat_map(Read::facts).map(|(resource, _)| resource).collect();
    distinct.into_iter().cloned().collect()
}

/// Decides the events one after the other, in their order of arrival, as if each had a transaction of its own.
pub(crate) fn decide_all<'f>(
    events: Vec<Read>,
    rows: HashMap<ResourceId, Resource>,
    flow_of: impl Fn(&str) -> Option<&'f Flow>,
    settles_ties: impl Fn(&str) -> bool,
) -> Decided {
    let mut decided = Decided { rows, ..Decided::default() };
    for read in events {
        if read.event.answer.is_some() {
            decided.answered.push(read.event.event_id);
        }
        let stranger = read.facts().find(|(resource, _)| flow_of(&resource.kind).is_none());
        if let Some((resource, _)) = stranger {
            let error =
                format!("no flow for kind \"{}\": add [flows.{0}], then it is tried again", resource.kind);
            decided.failed.push((read.event, error));
            continue;
        }
        let Read { event, readings } = read;
        match readings {
            Ok(readings) => {
                let asks = event.answer.is_none() && settles_ties(&event.source);
                decided.event(event, readings, &flow_of, asks);
            }
            Err(error) => decided.failed.push((event, error)),
        }
    }
    decided
}

impl Decided {
    /// Decides all that one event tells; its outcome is the weightiest of them.
    fn event<'f>(
        &mut self,
        event: Claimed,
        readings: Vec<Reading>,
        flow_of: &impl Fn(&str) -> Option<&'f Flow>,
        asks: bool,
    ) {
        let mut ended: Option<EventOutcome> = None;
        for reading in readings {
            let next = match reading {
                Reading::Fact { resource, fact } if asks && self.disputes(&resource, &fact) => {
                    self.ask(&event, TIE.to_owned(), resource, None);
                    continue;
                }
                Reading::Fact { resource, fact } => match flow_of(&resource.kind) {
                    Some(flow) => self.fact(&event, resource, &fact, flow),
                    None => continue,
                },
                Reading::Fetch { resource, fetch, expect, .. } => {
                    self.ask(&event, fetch, resource, expect);
                    continue;
                }
                Reading::Ignored(reason) => set_aside(&event, EventVerdict::Ignored, &reason),
                Reading::Test(reason) => set_aside(&event, EventVerdict::Test, &reason),
                Reading::Malformed(reason) => set_aside(&event, EventVerdict::Malformed, &reason),
            };
            if ended.as_ref().is_none_or(|ended| weight(&next.verdict) > weight(&ended.verdict)) {
                ended = Some(next);
            }
        }
        self.outcomes.extend(ended);
    }

    /// Whether what is known tells another thing of the same moment.
    fn disputes(&self, resource: &ResourceId, fact: &Fact) -> bool {
        self.rows.get(resource).is_some_and(|row| row.disputes(fact))
    }

    fn ask(&mut self, event: &Claimed, fetch: String, resource: ResourceId, expect: Option<String>) {
        let (event_id, source) = (event.event_id, event.source.clone());
        self.asked.push(Asked { event_id, source, fetch, resource_id: resource.id, expect });
    }

    fn fact(&mut self, event: &Claimed, id: ResourceId, fact: &Fact, flow: &Flow) -> EventOutcome {
        let current = self.rows.get(&id);
        let decision = decide(current, fact, flow);
        let changed = current != Some(&decision.resource);
        let ended = outcome(event, fact, &decision);
        if let Some(newer) = &decision.overruled {
            self.overruled.push(Overruled { resource: id.clone(), newer: newer.clone() });
        }
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
        ended
    }

    /// The rows to save.
    pub(crate) fn rows(&self) -> Vec<(&ResourceId, &Resource)> {
        self.changed.iter().filter_map(|id| self.rows.get_key_value(id)).collect()
    }

    /// The effects to write, in the order in which they were born; `is_direct` tells by its destination which of them
    /// are done in this transaction.
    pub(crate) fn effects(
        &self,
        now: jiff::Timestamp,
        is_direct: impl Fn(&str) -> bool,
    ) -> Vec<EffectToWrite<'_>> {
        self.effects
            .iter()
            .enumerate()
            .map(|(at, born)| EffectToWrite {
                effect_id: db::ids::new_id_in_order(now, at),
                resource_id: &born.resource,
                effect: born.effect.clone(),
                event_id: born.event_id,
                snapshot: born.snapshot.clone(),
                in_transaction: is_direct(&born.effect.destination),
            })
            .collect()
    }
}

/// Of several outcomes in one answer, which is told: what moved a row, then what an operator must see.
fn weight(verdict: &EventVerdict) -> u8 {
    match verdict {
        EventVerdict::Decided(domain::Outcome::Applied) => 5,
        EventVerdict::Decided(domain::Outcome::TerminalRegression) => 4,
        EventVerdict::Malformed | EventVerdict::Dead => 3,
        EventVerdict::Decided(domain::Outcome::Stale) => 2,
        EventVerdict::Test => 1,
        EventVerdict::Ignored => 0,
    }
}

fn set_aside(event: &Claimed, verdict: EventVerdict, reason: &str) -> EventOutcome {
    EventOutcome {
        event_id: event.event_id,
        verdict,
        reason: Some(reason.replace('\0', "\u{fffd}")),
        status_from: None,
        status_to: None,
        attempts: event.attempts + 1,
    }
}

fn outcome(event: &Claimed, fact: &Fact, decision: &Decision) -> EventOutcome {
    let reason = match decision.outcome {
        domain::Outcome::TerminalRegression => Some(format!(
            "\"{}\" is terminal and does not lead to \"{}\"",
            decision.resource.status, fact.status
        )),
        domain::Outcome::Applied | domain::Outcome::Stale => decision.overruled.as_ref().map(|newer| {
            format!(
                "\"{newer}\" is newer, and the final \"{}\" does not lead to it",
                decision.resource.status
            )
        }),
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
