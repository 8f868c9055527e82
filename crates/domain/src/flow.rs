//! The statuses of one kind of resource, and how they may follow each other.

use std::collections::BTreeMap;

use crate::EffectRule;

/// A flow that has been checked: every status it names exists. Built by [`crate::FlowSpec::compile`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// In rank order; the first has rank 1.
    pub(crate) statuses: Vec<String>,
    /// Terminal statuses with the only statuses that may follow them.
    pub(crate) exits: BTreeMap<String, Vec<String>>,
    pub(crate) effects: Vec<EffectRule>,
    pub(crate) short_history: bool,
}

impl Flow {
    /// The status's place in the flow, 1 for the first; `None` for a status the flow does not know.
    pub fn rank(&self, status: &str) -> Option<u8> {
        let place = self.statuses.iter().position(|known| known == status)?;
        u8::try_from(place + 1).ok()
    }

    /// The flow's statuses in rank order.
    pub fn statuses(&self) -> &[String] {
        &self.statuses
    }

    /// What happens when a status is entered or reached, in the order the flow lists it.
    pub fn effects(&self) -> &[EffectRule] {
        &self.effects
    }

    /// Whether nothing but the listed exits may follow this status.
    pub fn is_terminal(&self, status: &str) -> bool {
        self.exits.contains_key(status)
    }

    /// Whether a newer fact may take a row from one status to the other.
    pub fn allows(&self, from: &str, to: &str) -> bool {
        from == to || self.exits.get(from).is_none_or(|exits| exits.iter().any(|exit| exit == to))
    }

    /// Whether a row of this flow needs to remember only the first and last entry of each status.
    ///
    /// It does when terminal statuses lead only to terminal ones, never in a circle, and each status reachable
    /// in steps is also listed as a direct exit. Then: a non-terminal entry matters only if no terminal one
    /// exists and it is the newest of all; a terminal entry is accepted either at its first occurrence or never
    /// (if a later occurrence could be accepted by a successor of the status that refused the first, that
    /// status would itself list it as an exit); and the row's version is the last entry of its final status.
    /// A flow that breaks one of these keeps every distinct pair.
    pub fn keeps_short_history(&self) -> bool {
        self.short_history
    }

    /// Keeps every distinct pair from now on. Where the provider is asked about a moment its word takes that moment's
    /// entries away again, so that one of those between the first and the last may come to matter.
    pub fn keep_whole_history(&mut self) {
        self.short_history = false;
    }

    /// See [`Flow::keeps_short_history`].
    pub(crate) fn exits_are_well_founded(exits: &BTreeMap<String, Vec<String>>) -> bool {
        exits.iter().all(|(from, direct)| {
            direct.iter().all(|to| {
                to != from
                    && exits
                        .get(to)
                        .is_some_and(|onward| onward.iter().all(|next| next != from && direct.contains(next)))
            })
        })
    }
}
