//! What replay, requeue and discard have in common: some rows are chosen, others skipped, and the chosen moved.

use std::fmt::Write as _;

use serde::Serialize;
use uuid::Uuid;

use crate::{report::Report, table::table, words::count};

/// Most rows shown to people; JSON has all of them.
const SHOWN_MAX: usize = 20;

/// What was chosen and what became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Moved<T> {
    /// Whether nothing was changed, as asked.
    pub(crate) dry_run: bool,
    /// What was found and may be moved.
    pub(crate) chosen: Vec<T>,
    /// What was named but is left alone.
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
}

impl<T: Row + Serialize> Report for Moved<T> {
    fn text(&self) -> String {
        let found = count(self.chosen.len(), T::NOUN);
        let mut text = format!("found {found} to be {}\n", self.verb);
        text += &table(T::HEADINGS, self.chosen.iter().take(SHOWN_MAX).map(Row::cells));
        if self.chosen.len() > SHOWN_MAX {
            let _ = writeln!(text, "… and {} more", self.chosen.len() - SHOWN_MAX);
        }
        for Skipped { id, reason } in &self.skipped {
            let _ = writeln!(text, "left alone: {id}: {reason}");
        }
        if self.more {
            text += "there are more: raise --limit or run this again\n";
        }
        let _ = if self.dry_run {
            writeln!(text, "dry run: nothing was changed")
        } else {
            writeln!(text, "{}: {}", self.verb, self.done)
        };
        text
    }

    fn is_trouble(&self) -> bool {
        !self.skipped.is_empty()
    }
}

/// Ids that were named twice count once; the order is kept.
pub(crate) fn distinct(ids: &[Uuid]) -> Vec<Uuid> {
    let mut seen = std::collections::HashSet::new();
    ids.iter().copied().filter(|id| seen.insert(*id)).collect()
}

/// Those of the ids that none of the found has.
pub(crate) fn missing(wanted: &[Uuid], found: impl Iterator<Item = Uuid>, noun: &str) -> Vec<Skipped> {
    let found: std::collections::HashSet<Uuid> = found.collect();
    let absent = wanted.iter().filter(|id| !found.contains(id));
    absent.map(|id| Skipped { id: *id, reason: format!("no {noun} has this id") }).collect()
}
