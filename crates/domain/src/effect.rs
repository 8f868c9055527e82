//! Side effects: born of what happened to the row, never of the type of the event that came.

use crate::{Decision, Fact, Field, Resource, Value};

/// What makes an effect due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// The row's status really changed into this one.
    Enter(String),
    /// This status is known for the first time, at whatever version.
    Reached(String),
    /// An event of this type came.
    Event(String),
    /// The row's value of this field really changed, or is known for the first time.
    Changed(String),
}

/// What tells two effects of one name and resource apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectKey {
    /// Nothing: at most one in the resource's life.
    Once,
    /// The event's own key: one per distinct event.
    Event,
    /// The value of this field: one per value.
    Field(String),
    /// The value of this field and the version that set it: one per change, also back to a value it had before.
    Change(String),
}

/// One effect of a flow, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRule {
    /// Name, unique in the flow.
    pub name: String,
    /// What makes it due.
    pub trigger: Trigger,
    /// If not empty, the status left must be one of these.
    pub from: Vec<String>,
    /// This effect must have been written for the resource.
    pub requires: Option<String>,
    /// None of these may ever have been told.
    pub unless_reached: Vec<String>,
    /// With [`Trigger::Reached`]: it waits until these fields are known as well.
    pub known: Vec<String>,
    /// What makes it distinct.
    pub key: EffectKey,
    /// The effect that it undoes: both fall away while that one was never sent.
    pub cancels: Option<String>,
    /// Where it goes.
    pub destination: String,
}

/// An effect to be written with the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEffect {
    /// The rule's name.
    pub name: String,
    /// Distinct within (resource, name); empty for effects that happen once.
    pub key: String,
    /// The effect of the same resource that it undoes, where both fall away while that one was never sent.
    pub cancels: Option<String>,
    /// Where it goes.
    pub destination: String,
    /// Its place among the effects of its resource, from 0: deliveries keep this order.
    pub sequence: i32,
}

/// Adds the effects that this decision makes due, in the order of the flow, and notes them in the resource.
/// `before` is the row as it was.
pub(crate) fn add_due_effects(
    decision: &mut Decision,
    before: Option<&Resource>,
    rules: &[EffectRule],
    fact: &Fact,
) {
    for rule in rules {
        if triggered(rule, before, decision, fact) && guards_hold(rule, decision) {
            write(rule, decision, fact);
        }
    }
}

fn triggered(rule: &EffectRule, before: Option<&Resource>, decision: &Decision, fact: &Fact) -> bool {
    match &rule.trigger {
        Trigger::Enter(status) => decision.transition.as_ref().is_some_and(|moved| &moved.to == status),
        Trigger::Reached(status) if rule.known.is_empty() => decision.reached.as_ref() == Some(status),
        Trigger::Reached(status) => {
            let complete = |row: &Resource| {
                row.history.reached(status) && rule.known.iter().all(|field| row.fields.contains_key(field))
            };
            complete(&decision.resource) && !before.is_some_and(complete)
        }
        Trigger::Event(event_type) => &fact.event_type == event_type,
        Trigger::Changed(field) => {
            let value = |row: &'_ Resource| row.fields.get(field).map(|field| field.value.clone());
            value(&decision.resource) != before.and_then(value)
        }
    }
}

fn guards_hold(rule: &EffectRule, decision: &Decision) -> bool {
    let left = decision.transition.as_ref().and_then(|moved| moved.from.as_ref());
    let from_holds = rule.from.is_empty() || left.is_some_and(|from| rule.from.contains(from));
    let required_is_written =
        rule.requires.as_ref().is_none_or(|needed| decision.resource.effects_written.contains(needed));
    from_holds
        && required_is_written
        && !rule.unless_reached.iter().any(|status| decision.resource.history.reached(status))
}

fn write(rule: &EffectRule, decision: &mut Decision, fact: &Fact) {
    let resource = &mut decision.resource;
    let Some(key) = key_text(&rule.key, resource, fact) else { return };
    if rule.key == EffectKey::Once && resource.effects_written.contains(&rule.name) {
        return;
    }
    resource.effects_written.insert(rule.name.clone());
    let sequence = resource.next_effect;
    resource.next_effect = resource.next_effect.saturating_add(1);
    decision.effects.push(NewEffect {
        name: rule.name.clone(),
        key,
        cancels: rule.cancels.clone(),
        destination: rule.destination.clone(),
        sequence,
    });
}

/// `None` when the field that makes the effect distinct is not known: such an effect cannot be told from
/// another, so it is not written.
fn key_text(key: &EffectKey, resource: &Resource, fact: &Fact) -> Option<String> {
    match key {
        EffectKey::Once => Some(String::new()),
        EffectKey::Event => Some(fact.event_key.clone()),
        EffectKey::Field(name) => {
            let value =
                fact.fields.get(name).or_else(|| resource.fields.get(name).map(|field| &field.value))?;
            Some(text(value))
        }
        EffectKey::Change(name) => {
            let Field { value, version } = resource.fields.get(name)?;
            Some(format!("{}@{}.{}", text(value), version.major, version.rank))
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Boolean(flag) => flag.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}
