//! What replay, retry and discard have in common: rows are found piece by piece, some are chosen, others left alone, and
//! the chosen are moved in batches, after a look at how many they are.

mod batches;
mod confirm;
mod progress;

use std::{collections::HashSet, fmt::Write as _};

use serde::Serialize;
use uuid::Uuid;

pub(crate) use batches::{Batch, Batches, run};
pub(crate) use confirm::How;

use crate::{report::Report, table::table, words::count};

/// Most rows shown to people.
const SHOWN_MAX: usize = 20;
/// Most rows in the JSON, of each list.
const LISTED_MAX: usize = 1000;

/// What was chosen and what became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Moved<T> {
    /// Whether nothing was changed, as asked or as answered.
    pub(crate) dry_run: bool,
    /// How many were found that may be moved.
    pub(crate) found: u64,
    /// The first of them.
    pub(crate) chosen: Vec<T>,
    /// How many were named or found but are left alone.
    pub(crate) left_alone: u64,
    /// The first of those.
    pub(crate) skipped: Vec<Skipped>,
    /// How many were moved.
    pub(crate) done: u64,
    /// Whether the limit left more of them.
    pub(crate) more: bool,
    /// `replayed`, `requeued`, `discarded`.
    #[serde(skip)]
    pub(crate) verb: &'static str,
}

/// Something that was left alone.
#[derive(Debug, Serialize)]
pub(crate) struct Skipped {
    /// Its id.
    pub(crate) id: Uuid,
    /// Why.
    pub(crate) reason: String,
}

/// A row of the table for people.
pub(crate) trait Row {
    /// `event`, `effect`.
    const NOUN: &'static str;
    /// Of the table.
    const HEADINGS: &'static [&'static str];
    /// As many as headings.
    fn cells(&self) -> Vec<String>;
    /// Its id.
    fn id(&self) -> Uuid;
}

impl<T: Row> Moved<T> {
    fn new(verb: &'static str, dry_run: bool) -> Self {
        let (chosen, skipped) = (Vec::new(), Vec::new());
        Self { dry_run, found: 0, chosen, left_alone: 0, skipped, done: 0, more: false, verb }
    }

    /// Counts a batch, and keeps the first rows.
    fn add(&mut self, batch: Batch<T>) {
        self.found += batch.chosen.len() as u64;
        self.left_alone += batch.skipped.len() as u64;
        keep(&mut self.chosen, batch.chosen);
        keep(&mut self.skipped, batch.skipped);
    }

    /// How many there are and some of them, as people read it.
    fn preview(&self, shown: usize) -> String {
        let mut text = format!("found {} to be {}\n", counted(self.found, T::NOUN), self.verb);
        text += &table(T::HEADINGS, self.chosen.iter().take(shown).map(Row::cells));
        let rest = self.found.saturating_sub(shown as u64);
        if rest > 0 {
            let _ = writeln!(text, "… and {rest} more");
        }
        for Skipped { id, reason } in self.skipped.iter().take(shown) {
            let _ = writeln!(text, "left alone: {id}: {reason}");
        }
        let rest = self.left_alone.saturating_sub(shown as u64);
        if rest > 0 {
            let _ = writeln!(text, "… and {rest} more left alone");
        }
        if self.more {
            text += "there are more: raise --limit or run this again\n";
        }
        text
    }
}

fn keep<T>(kept: &mut Vec<T>, rows: Vec<T>) {
    let room = LISTED_MAX.saturating_sub(kept.len());
    kept.extend(rows.into_iter().take(room));
}

fn counted(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

impl<T: Row + Serialize> Report for Moved<T> {
    fn text(&self) -> String {
        let mut text = self.preview(SHOWN_MAX);
        let _ = if self.dry_run {
            writeln!(text, "dry run: nothing was changed")
        } else {
            writeln!(text, "{}: {}", self.verb, self.done)
        };
        text
    }

    fn is_trouble(&self) -> bool {
        self.left_alone > 0
    }
}

/// Ids that were named twice count once; in their order.
pub(crate) fn distinct(ids: &[Uuid]) -> Vec<Uuid> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The next of these named ids.
pub(crate) fn after(ids: &[Uuid], last: Uuid, limit: usize) -> Vec<Uuid> {
    ids.iter().copied().filter(|id| *id > last).take(limit).collect()
}

/// Those of the ids that none of the found has.
pub(crate) fn missing(wanted: &[Uuid], found: impl Iterator<Item = Uuid>, noun: &str) -> Vec<Skipped> {
    let found: HashSet<Uuid> = found.collect();
    let absent = wanted.iter().filter(|id| !found.contains(id));
    absent.map(|id| Skipped { id: *id, reason: format!("no {noun} has this id") }).collect()
}
