//! A flow as it stands in configuration, and its check.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{EffectKey, EffectRule, Flow, Trigger};

/// `[flows.KIND]`: statuses in rank order, which are terminal, and the effects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Status names, the earliest stage first; at most 127.
    pub statuses: Vec<String>,
    /// Each terminal status with the statuses that may still follow it.
    #[serde(default)]
    pub terminal: BTreeMap<String, Vec<String>>,
    /// What happens on the way, in the order in which effects of one fact are written.
    #[serde(default)]
    pub effects: Vec<EffectSpec>,
}

/// One effect: a trigger (exactly one of `enter`, `reached`, `event`, `changed`), guards, and where it goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectSpec {
    /// The effect's name, unique in the flow.
    pub name: String,
    /// Fires on a real transition of the row's status into this one.
    pub enter: Option<String>,
    /// Fires the first time this status is known, even when it comes late.
    pub reached: Option<String>,
    /// Fires for events of this type, once per key.
    pub event: Option<String>,
    /// Fires when the row's value of this field really changes, or is told for the first time.
    pub changed: Option<String>,
    /// With `enter`: only when one of these statuses was left.
    #[serde(default)]
    pub from: Vec<String>,
    /// Only if this effect was written for the resource before.
    pub requires: Option<String>,
    /// Not if one of these statuses was ever told.
    #[serde(default)]
    pub unless_reached: Vec<String>,
    /// With `reached`: waits until these fields are known as well, whatever fact tells them.
    #[serde(default)]
    pub known: Vec<String>,
    /// What makes the effect distinct within its resource: nothing (once), `event` (once per event),
    /// or `field:NAME` (once per value of that field). With `event` it is `event` unless set, with `changed` once per
    /// change.
    pub key: Option<String>,
    /// An earlier effect of the flow that this one undoes: when it was never sent yet, neither is sent.
    pub cancels: Option<String>,
    /// Name of the destination it is sent to.
    pub destination: String,
}

/// Something wrong in a flow: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFault {
    /// Path below the flow, such as `effects[1].enter`.
    pub key: String,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl fmt::Display for FlowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

impl FlowSpec {
    /// Checks everything and builds the flow.
    ///
    /// # Errors
    /// All faults found, not only the first.
    pub fn compile(&self) -> Result<Flow, Vec<FlowFault>> {
        let mut faults = Faults { spec: self, found: Vec::new() };
        faults.check_statuses();
        faults.check_terminal();
        let effects: Vec<_> =
            self.effects.iter().enumerate().filter_map(|(at, spec)| faults.effect(at, spec)).collect();
        if !faults.found.is_empty() {
            return Err(faults.found);
        }
        Ok(Flow {
            statuses: self.statuses.clone(),
            exits: self.terminal.clone(),
            effects,
            short_history: Flow::exits_are_well_founded(&self.terminal),
        })
    }
}

struct Faults<'a> {
    spec: &'a FlowSpec,
    found: Vec<FlowFault>,
}

impl Faults<'_> {
    fn add(&mut self, key: impl Into<String>, reason: impl Into<String>) {
        self.found.push(FlowFault { key: key.into(), reason: reason.into() });
    }

    fn check_statuses(&mut self) {
        let statuses = &self.spec.statuses;
        if statuses.is_empty() || statuses.len() > 127 {
            self.add("statuses", format!("needs 1 to 127 statuses, has {}", statuses.len()));
        }
        for (at, status) in statuses.iter().enumerate() {
            if status.trim().is_empty() {
                self.add(format!("statuses[{at}]"), "is empty");
            } else if statuses[..at].contains(status) {
                self.add(format!("statuses[{at}]"), format!("\"{status}\" stands twice"));
            }
        }
    }

    fn check_terminal(&mut self) {
        let spec = self.spec;
        for (status, exits) in &spec.terminal {
            let key = format!("terminal.{status}");
            self.known(&key, status);
            for exit in exits {
                self.known(&key, exit);
            }
        }
    }

    fn known(&mut self, key: &str, status: &str) {
        if !self.spec.statuses.iter().any(|known| known == status) {
            let names = self.spec.statuses.join(", ");
            self.add(key, format!("\"{status}\" is no status of this flow (it has: {names})"));
        }
    }

    fn effect(&mut self, at: usize, spec: &EffectSpec) -> Option<EffectRule> {
        let key = |part: &str| format!("effects[{at}].{part}");
        let before = &self.spec.effects[..at];
        if spec.name.trim().is_empty() {
            self.add(key("name"), "is empty");
        } else if before.iter().any(|other| other.name == spec.name) {
            self.add(key("name"), format!("\"{}\" stands twice", spec.name));
        }
        if spec.destination.trim().is_empty() {
            self.add(key("destination"), "is empty");
        }
        for status in spec.enter.iter().chain(&spec.reached).chain(&spec.from).chain(&spec.unless_reached) {
            self.known(&key("status"), status);
        }
        if !spec.from.is_empty() && spec.enter.is_none() {
            self.add(key("from"), "goes only with `enter`: the other triggers leave no status");
        }
        if !spec.known.is_empty() && spec.reached.is_none() {
            self.add(key("known"), "goes only with `reached`: the other triggers do not wait");
        }
        if let Some(needed) = &spec.requires
            && !self.spec.effects.iter().any(|other| &other.name == needed)
        {
            self.add(key("requires"), format!("\"{needed}\" is no effect of this flow"));
        }
        self.pair(at, spec);
        let trigger = self.trigger(at, spec)?;
        let effect_key = self.effect_key(at, spec)?;
        Some(EffectRule {
            name: spec.name.clone(),
            trigger,
            from: spec.from.clone(),
            requires: spec.requires.clone(),
            unless_reached: spec.unless_reached.clone(),
            known: spec.known.clone(),
            key: effect_key,
            cancels: spec.cancels.clone(),
            destination: spec.destination.clone(),
        })
    }

    /// What is undone stands before what undoes it, goes the same way, and happens once like it.
    fn pair(&mut self, at: usize, spec: &EffectSpec) {
        let Some(name) = &spec.cancels else { return };
        let is_once =
            |spec: &EffectSpec| spec.key.is_none() && spec.event.is_none() && spec.changed.is_none();
        let reason = match self.spec.effects[..at].iter().find(|other| &other.name == name) {
            None => format!("\"{name}\" is no effect that stands before this one"),
            Some(other) if other.destination != spec.destination => {
                format!("\"{name}\" goes to another destination")
            }
            Some(other) if !is_once(other) || !is_once(spec) => {
                "goes only with effects that happen once: without `event`, `changed` and `key`".to_owned()
            }
            Some(_) => return,
        };
        self.add(format!("effects[{at}].cancels"), reason);
    }

    fn trigger(&mut self, at: usize, spec: &EffectSpec) -> Option<Trigger> {
        match (&spec.enter, &spec.reached, &spec.event, &spec.changed) {
            (Some(status), None, None, None) => Some(Trigger::Enter(status.clone())),
            (None, Some(status), None, None) => Some(Trigger::Reached(status.clone())),
            (None, None, Some(event), None) => Some(Trigger::Event(event.clone())),
            (None, None, None, Some(field)) if !field.trim().is_empty() => {
                Some(Trigger::Changed(field.clone()))
            }
            _ => {
                self.add(
                    format!("effects[{at}]"),
                    "needs exactly one of `enter`, `reached`, `event`, `changed`",
                );
                None
            }
        }
    }

    fn effect_key(&mut self, at: usize, spec: &EffectSpec) -> Option<EffectKey> {
        match spec.key.as_deref() {
            // An event effect without a key would fire once in a resource's life, which no one who writes
            // `event = …` means: a renewal comes each cycle.
            None if spec.event.is_some() => Some(EffectKey::Event),
            None if spec.changed.is_some() => spec.changed.clone().map(EffectKey::Change),
            None => Some(EffectKey::Once),
            Some("event") => Some(EffectKey::Event),
            Some(text) => match text.strip_prefix("field:") {
                Some(field) if !field.is_empty() => Some(EffectKey::Field(field.to_owned())),
                _ => {
                    self.add(
                        format!("effects[{at}].key"),
                        format!("\"{text}\" is neither `event` nor `field:NAME`"),
                    );
                    None
                }
            },
        }
    }
}
