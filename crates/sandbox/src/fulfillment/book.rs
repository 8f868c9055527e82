//! The book of the fulfilment system: what was asked, under which key, and what was done.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::fulfillment::faults::Fault;

/// What must happen once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// The order's id.
    pub order: String,
    /// The effect's name.
    pub name: String,
    /// The effect's own key within the order, mostly empty.
    pub key: String,
}

/// What became of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The work was done.
    Done,
    /// It had been done under this key.
    Repeated,
    /// It was done again under another key: the caller's mistake.
    Doubled,
    /// The key belongs to another effect; nothing was done.
    Conflict,
}

/// An effect that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneEffect {
    /// Which.
    pub effect: Effect,
    /// How often: the number of different idempotency keys.
    pub times: u64,
}

/// Counts of the fulfilment system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Believed calls.
    pub requests: u64,
    /// Effects done.
    pub done: u64,
    /// Calls that repeated a key whose work was done.
    pub repeated: u64,
    /// Effects done again under another key.
    pub doubled: u64,
    /// Keys used for two effects.
    pub conflicts: u64,
    /// Orders whose halt came before their release.
    pub out_of_order: u64,
    /// Believed calls for orders of another run.
    pub foreign: u64,
    /// Calls that were not believed, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Calls that went wrong by the seed, by how.
    pub faults: BTreeMap<String, u64>,
}

/// The book, shared by all calls.
#[derive(Debug, Default)]
pub struct Book {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    effects: HashMap<Effect, Entry>,
    keys: HashMap<String, Effect>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Entry {
    asked: u64,
    times: u64,
}

impl Book {
    /// A believed call came for this effect; returns which it is, from 1.
    pub fn asked(&self, effect: &Effect) -> u64 {
        let mut state = self.lock();
        state.counts.requests += 1;
        let entry = state.effects.entry(effect.clone()).or_default();
        entry.asked += 1;
        entry.asked
    }

    /// Does the work of a call, once a key.
    pub fn work(&self, effect: &Effect, idempotency_key: &str) -> Work {
        let mut state = self.lock();
        if let Some(known) = state.keys.get(idempotency_key) {
            return if known == effect {
                state.counts.repeated += 1;
                Work::Repeated
            } else {
                state.counts.conflicts += 1;
                Work::Conflict
            };
        }
        if effect.name == "halt_picking" && !state.released(&effect.order) {
            state.counts.out_of_order += 1;
        }
        state.keys.insert(idempotency_key.to_owned(), effect.clone());
        let entry = state.effects.entry(effect.clone()).or_default();
        entry.times += 1;
        if entry.times == 1 {
            state.counts.done += 1;
            Work::Done
        } else {
            state.counts.doubled += 1;
            Work::Doubled
        }
    }

    /// A call was not believed.
    pub fn refused(&self, reason: &str) {
        let mut state = self.lock();
        *state.counts.refused.entry(reason.to_owned()).or_default() += 1;
    }

    /// A believed call came for an order of another run.
    pub fn foreign(&self) {
        self.lock().counts.foreign += 1;
    }

    /// A call goes wrong.
    pub fn faulty(&self, fault: Fault) {
        if let Some(name) = fault.name() {
            let mut state = self.lock();
            *state.counts.faults.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts.clone()
    }

    /// Every effect that was done, for the ledger.
    pub fn done(&self) -> Vec<DoneEffect> {
        let state = self.lock();
        let done = state.effects.iter().filter(|(_, entry)| entry.times > 0);
        done.map(|(effect, entry)| DoneEffect { effect: effect.clone(), times: entry.times }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn released(&self, order: &str) -> bool {
        let release =
            Effect { order: order.to_owned(), name: "release_picking".to_owned(), key: String::new() };
        self.effects.get(&release).is_some_and(|entry| entry.times > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(name: &str) -> Effect {
        Effect { order: "ped_1".into(), name: name.into(), key: String::new() }
    }

    #[test]
    fn a_repeated_key_is_honoured_and_another_key_is_a_double() {
        let book = Book::default();
        let release = effect("release_picking");
        assert_eq!(book.work(&release, "a"), Work::Done);
        assert_eq!(book.work(&release, "a"), Work::Repeated);
        assert_eq!(book.work(&release, "b"), Work::Doubled);
        assert_eq!(book.work(&effect("notify_refund"), "a"), Work::Conflict);
        let counts = book.counts();
        assert_eq!((counts.done, counts.repeated), (1, 1));
        assert_eq!((counts.doubled, counts.conflicts), (1, 1));
        assert_eq!(book.done()[0].times, 2);
    }

    #[test]
    fn a_halt_before_the_release_is_out_of_order() {
        let book = Book::default();
        book.work(&effect("halt_picking"), "a");
        assert_eq!(book.counts().out_of_order, 1);
        let book = Book::default();
        book.work(&effect("release_picking"), "a");
        book.work(&effect("halt_picking"), "b");
        assert_eq!(book.counts().out_of_order, 0);
    }
}
