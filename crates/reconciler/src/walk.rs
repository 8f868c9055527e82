//! The way through the pages of a list that changes while it is read.
//!
//! Tokens and addresses are the provider's own marks, and hold. Pages that are counted, by number or by offset, do not:
//! what leaves a page that was read, because it changed or is gone, pulls the rest forward, and the next number begins
//! behind an item that nobody has read. So a list by time is not counted on, but asked again from the last instant
//! seen. Where that leads no further (more than a page within a second, a list in another order), all that was counted
//! is read again until a reading brings nothing, and until then the cursor waits.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use jiff::Timestamp;
use profile::{List, Page};

use crate::{
    Failure,
    order::Order,
    page::PageItems,
    pull::{Keeping, Plan, Window},
    source::before,
};

/// Most readings of what is counted, for one that brings nothing.
const READINGS_MAX: u32 = 3;

/// What is asked for again before the last instant seen: bounds may leave out their own instant, and providers may
/// round to seconds.
const AGAIN: Duration = Duration::from_secs(1);

/// Where reading is.
pub(crate) struct Walk {
    /// From when the list is asked.
    pub(crate) from: Timestamp,
    /// The page that is asked for; the first when nothing.
    pub(crate) asked: Option<String>,
    pub(crate) order: Order,
    /// Whether pages are counted, and a second reading can tell that one moved.
    moves: bool,
    /// Whether the list can be asked again from an instant.
    resumes: bool,
    /// What was asked for since `from`.
    seen: HashSet<String>,
    /// The page before, as a hash of its items.
    before: Option<u64>,
    /// Which reading since `from` this is, counted from one.
    reading: u32,
    /// Events that this reading stored.
    brought: u64,
}

/// Where a page leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the page that this asks for.
    Page(String),
    /// To the list from this instant on.
    From(Timestamp),
    /// Nowhere: it is the last.
    End,
}

/// What is known of all that was read since `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing yet: pages follow.
    Open,
    /// It is read again from the start.
    Again,
    /// Nothing was passed over.
    Whole,
    /// Each reading brought what the one before had passed over.
    Moving,
}

impl Walk {
    /// Before the first page of a stretch.
    pub(crate) fn new(plan: &Plan<'_>, stretch: &Window) -> Self {
        let list = plan.list;
        // A round of a sliding list is itself a second reading of what the last one read.
        let again = !(list.sliding.is_some() && plan.settled.is_some());
        Self {
            from: stretch.from,
            asked: None,
            order: Order::new(list.sorted),
            moves: list.paging.is_numbered() && again && plan.keeping == Keeping::Store,
            resumes: list.paging.is_numbered() && list.since.is_some() && list.sliding.is_none(),
            seen: HashSet::new(),
            before: None,
            reading: 1,
            brought: 0,
        }
    }

    /// Where this page leads.
    ///
    /// # Errors
    /// When it was read before: the provider leads in a circle.
    pub(crate) fn step(
        &mut self,
        list: &List,
        page: &Page<'_>,
        items: &PageItems<'_>,
        stretch: &Window,
    ) -> Result<Step, Failure> {
        let Some(next) = page.next.clone() else { return Ok(Step::End) };
        if items.is_beyond && self.order.is_ascending() {
            return Ok(Step::End);
        }
        if list.paging.is_numbered() {
            // Some providers give the first page, or the last, for any number.
            let this = Some(hash(&page.items));
            if self.before == this {
                return Err(Failure::PageRepeats);
            }
            self.before = this;
        }
        Ok(self.resumed(list, stretch).map_or(Step::Page(next), Step::From))
    }

    /// The instant to ask again from, if that leads further.
    fn resumed(&self, list: &List, stretch: &Window) -> Option<Timestamp> {
        let since = list.since.as_ref().filter(|_| self.resumes && self.order.is_ascending())?;
        let from = before(self.order.latest().filter(|latest| *latest <= stretch.to)?, AGAIN);
        let leads_on = from > self.from && since.format.spell(from) != since.format.spell(self.from);
        leads_on.then_some(from)
    }

    /// Whether a page that leads there is all that was read since `from`: then nothing can have moved between two.
    pub(crate) fn is_whole(&self, step: &Step) -> bool {
        !self.moves || (self.asked.is_none() && !matches!(step, Step::Page(_)))
    }

    /// Takes the step, after the page brought so many events.
    ///
    /// # Errors
    /// When it leads to what was asked for before.
    pub(crate) fn take(&mut self, step: Step, brought: u64) -> Result<Known, Failure> {
        self.brought += brought;
        let is_whole = self.is_whole(&step);
        match step {
            Step::Page(next) => {
                if !self.seen.insert(next.clone()) {
                    return Err(Failure::PageRepeats);
                }
                self.asked = Some(next);
                Ok(Known::Open)
            }
            Step::From(_) | Step::End if !is_whole && (self.reading == 1 || self.brought > 0) => {
                if self.reading < READINGS_MAX {
                    let (from, reading) = (self.from, self.reading + 1);
                    self.start(from, reading);
                    return Ok(Known::Again);
                }
                self.leave(step);
                Ok(Known::Moving)
            }
            Step::From(_) | Step::End => {
                self.leave(step);
                Ok(Known::Whole)
            }
        }
    }

    fn leave(&mut self, step: Step) {
        if let Step::From(from) = step {
            self.start(from, 1);
        }
    }

    fn start(&mut self, from: Timestamp, reading: u32) {
        self.from = from;
        self.asked = None;
        self.order.starts_again();
        self.seen.clear();
        self.before = None;
        self.reading = reading;
        self.brought = 0;
    }
}

fn hash(items: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    items.hash(&mut hasher);
    hasher.finish()
}
