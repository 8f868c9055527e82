//! The naive model, the shipped flow and short ways to write facts.

use std::collections::{BTreeMap, BTreeSet};

use crate::{EffectSpec, Fact, Flow, FlowSpec, Outcome, Resource, Value, Version, decide};

/// The flow `order` as it is shipped, plus a milestone on every status.
pub(super) fn order_flow() -> Flow {
    let effect = |name: &str| EffectSpec {
        name: name.to_owned(),
        destination: "fulfillment".to_owned(),
        ..EffectSpec::default()
    };
    let text = |text: &str| Some(text.to_owned());
    let mut effects = vec![
        EffectSpec { enter: text("paid"), ..effect("release_picking") },
        EffectSpec {
            reached: text("canceled"),
            requires: text("release_picking"),
            unless_reached: vec!["shipped".to_owned()],
            ..effect("halt_picking")
        },
        EffectSpec { enter: text("refunded"), ..effect("notify_refund") },
    ];
    let statuses: Vec<String> = STATUSES.iter().map(|status| (*status).to_owned()).collect();
    effects.extend(statuses.iter().map(|status| EffectSpec {
        reached: Some(status.clone()),
        ..effect(&format!("milestone_{status}"))
    }));
    let terminal = BTreeMap::from([
        ("canceled".to_owned(), vec!["refunded".to_owned()]),
        ("refunded".to_owned(), Vec::new()),
    ]);
    FlowSpec { statuses, terminal, effects }.compile().unwrap()
}

pub(super) const STATUSES: [&str; 5] = ["created", "paid", "shipped", "canceled", "refunded"];

/// A fact at a sequence.
pub(super) fn fact(status: &str, major: i64) -> Fact {
    Fact {
        version: Version::new(major, 0),
        status: status.to_owned(),
        fields: BTreeMap::new(),
        growing: BTreeSet::new(),
        event_type: format!("order.{status}"),
        event_key: format!("{status}@{major}"),
    }
}

pub(super) fn with_email(mut fact: Fact, email: &str) -> Fact {
    fact.fields.insert("customer_email".to_owned(), Value::Text(email.to_owned()));
    fact
}

/// What must not depend on arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) status: String,
    pub(super) version: Version,
    pub(super) fields: BTreeMap<String, (Value, Version)>,
    pub(super) reached: BTreeSet<String>,
    pub(super) milestones: BTreeSet<String>,
}

/// The model: sort the distinct facts, walk them, let the flow refuse; fields are the newest value each.
pub(super) fn model(facts: &[Fact], flow: &Flow) -> Row {
    let mut sorted: Vec<&Fact> = facts.iter().collect();
    sorted.sort_by_key(|fact| (fact.version, flow.rank(&fact.status), fact.status.clone()));
    let mut status: Option<&str> = None;
    let mut version = sorted[0].version;
    // Where the provider was asked about a moment, nothing but its word counts.
    let asked: BTreeSet<i64> =
        sorted.iter().filter(|fact| fact.version.is_asked()).map(|fact| fact.version.major).collect();
    let counts = |fact: &&&Fact| fact.version.is_asked() || !asked.contains(&fact.version.major);
    for fact in sorted.iter().filter(counts) {
        if status.is_none_or(|now| flow.allows(now, &fact.status)) {
            (status, version) = (Some(fact.status.as_str()), fact.version);
        }
    }
    let mut fields: BTreeMap<String, (Value, Version)> = BTreeMap::new();
    for fact in &sorted {
        for (name, value) in &fact.fields {
            let later = |known| if fact.growing.contains(name) { value > known } else { value < known };
            let older = fields
                .get(name)
                .is_none_or(|(known, at)| *at < fact.version || (*at == fact.version && later(known)));
            if older {
                fields.insert(name.clone(), (value.clone(), fact.version));
            }
        }
    }
    let reached: BTreeSet<String> = facts.iter().map(|fact| fact.status.clone()).collect();
    let milestones = reached.iter().map(|status| format!("milestone_{status}")).collect();
    Row { status: status.unwrap().to_owned(), version, fields, reached, milestones }
}

/// What a row that took the facts one after the other looks like, with all effects in order.
pub(super) struct Applied {
    pub(super) row: Row,
    pub(super) effects: Vec<String>,
    pub(super) outcomes: Vec<Outcome>,
}

pub(super) fn apply<'a>(facts: impl IntoIterator<Item = &'a Fact>, flow: &Flow) -> Applied {
    let mut current: Option<Resource> = None;
    let (mut effects, mut outcomes) = (Vec::new(), Vec::new());
    for fact in facts {
        let decision = decide(current.as_ref(), fact, flow);
        effects.extend(decision.effects.iter().map(|effect| effect.name.clone()));
        outcomes.push(decision.outcome);
        current = Some(decision.resource);
    }
    let resource = current.unwrap();
    let row = Row {
        status: resource.status,
        version: resource.version,
        fields: resource
            .fields
            .into_iter()
            .map(|(name, field)| (name, (field.value, field.version)))
            .collect(),
        reached: resource.history.entries().iter().map(|entry| entry.status.clone()).collect(),
        milestones: effects.iter().filter(|name| name.starts_with("milestone_")).cloned().collect(),
    };
    Applied { row, effects, outcomes }
}

/// Calls `check` with every order of the facts.
pub(super) fn for_every_order(facts: &[Fact], mut check: impl FnMut(&[Fact])) {
    let mut facts = facts.to_vec();
    permute(&mut facts, 0, &mut check);
}

fn permute(facts: &mut [Fact], at: usize, check: &mut impl FnMut(&[Fact])) {
    if at == facts.len() {
        return check(facts);
    }
    for other in at..facts.len() {
        facts.swap(at, other);
        permute(facts, at + 1, check);
        facts.swap(at, other);
    }
}
