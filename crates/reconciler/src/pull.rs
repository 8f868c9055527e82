//! What reading a list of the API means: which window of time, in which stretches, and when the cursor moves.

use std::time::Duration;

use db::inbox::Origin;
use jiff::Timestamp;
use profile::List;

use crate::{Failure, backoff::Backoff, source::SourceReader, trouble::Trouble};

/// From when to when changes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The instant that the API is asked to start from.
    pub from: Timestamp,
    /// What changed later is left alone.
    pub to: Timestamp,
    /// What claims to have changed after this instant is read all the same: no clock's error explains it.
    pub far_ahead: Option<Timestamp>,
}

impl Window {
    pub(crate) fn takes_far_ahead(&self, instant: Option<Timestamp>) -> bool {
        self.far_ahead.is_some_and(|far_ahead| instant > Some(far_ahead))
    }
}

/// What was read and stored, so far or in the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulled {
    /// Pages stored.
    pub pages: u32,
    /// Items read from them.
    pub items: u64,
    /// Events that entered the inbox.
    pub stored: u64,
    /// Of them, facts: what the API told first.
    pub recovered: u64,
    /// The greatest instant of change read within the window.
    pub newest: Option<Timestamp>,
    /// Where the cursor stands since, if a page was stored with it.
    pub cursor: Option<Timestamp>,
    /// Pages beyond the cursor that held anything.
    pub(crate) beyond: u32,
    /// Whether the cursor waits, since a list went on moving under its page numbers.
    pub(crate) is_held: bool,
}

/// How reading ended.
#[derive(Debug)]
pub enum End {
    /// All pages are stored.
    Complete,
    /// As many pages as a round may read are stored, and there are more.
    PagesMax,
    /// The stop came; what was read is stored.
    Stopped,
    /// What is stored is stored; the rest waits.
    Failed(Failure),
}

/// One reading: what to read, what to call it, what to move.
pub(crate) struct Plan<'a> {
    pub(crate) list: &'a List,
    /// Which of the API's lists that is.
    pub(crate) at: usize,
    pub(crate) window: Window,
    pub(crate) origin: Origin,
    /// Moves the cursor, which stands here: with each page of a list by time, else with the last one.
    pub(crate) cursor: Option<Timestamp>,
    /// A stretch that ends before this instant is over for good: the cursor may move to its end.
    pub(crate) settled: Option<Timestamp>,
    /// Most pages beyond the cursor. Those before it, the overlap, are not counted, or a burst of changes that
    /// fills the overlap would keep every round from getting on; yet there is a bound to all of them.
    pub(crate) pages_max: u32,
    /// Whether what is read is stored, or only counted.
    pub(crate) keeping: Keeping,
}

/// What becomes of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    Store,
    /// The page is stored and taken back, so that the count is that of storing it.
    Count,
}

/// Tells how far reading is, after each page.
pub type Tell<'a> = dyn FnMut(&Pulled) + Send + 'a;

impl SourceReader {
    /// Reads a plan's window, one stretch after the other where the list allows only so much time in one call.
    pub(crate) async fn pull(&self, plan: &Plan<'_>, pulled: &mut Pulled, progress: &mut Tell<'_>) -> End {
        match self.stretches(plan, pulled, progress).await {
            Ok(end) => end,
            Err(failure) => End::Failed(failure),
        }
    }

    async fn stretches(
        &self,
        plan: &Plan<'_>,
        pulled: &mut Pulled,
        progress: &mut Tell<'_>,
    ) -> Result<End, Failure> {
        let end = plan.window.to.max(plan.window.from);
        let mut from = plan.window.from;
        loop {
            let longest = plan.list.window_max.unwrap_or(Duration::MAX);
            let to = from.checked_add(longest).map_or(end, |to| to.min(end));
            // The last one looks beyond its end as well.
            let far_ahead = plan.window.far_ahead.filter(|_| to == end);
            let stretch = Window { from, to, far_ahead };
            match self.pages(plan, &stretch, pulled, progress).await? {
                End::Complete if to < end => from = to,
                ended => return Ok(ended),
            }
        }
    }

    /// Waits until the page may be asked for again, or fails where that would not help.
    pub(crate) async fn bear(&self, backoff: &mut Backoff, trouble: Trouble) -> Result<(), Failure> {
        let wait = match trouble {
            Trouble::Lasting(failure) => return Err(failure),
            Trouble::Throttled(asked) => {
                // The last wait was obeyed as well, so whoever asks next asks when it may.
                if let Some(waited) = backoff.throttled_for_good() {
                    return Err(Failure::Throttled(waited.as_secs()));
                }
                self.throttled(backoff, asked)
            }
            Trouble::Transient(failure) => {
                let Some(wait) = backoff.after_failure() else { return Err(failure) };
                let retry_in_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                tracing::debug!(source = self.name, error = %failure, retry_in_ms, "call failed, trying again");
                wait
            }
        };
        self.parts.shutdown.sleep(wait).await;
        Ok(())
    }

    fn throttled(&self, backoff: &mut Backoff, asked: Duration) -> Duration {
        let wait = backoff.throttled(asked);
        tracing::info!(
            source = self.name,
            asked_s = asked.as_secs(),
            wait_s = wait.as_secs(),
            "the provider wants to be left alone, waiting"
        );
        wait
    }
}

impl Plan<'_> {
    /// Where the cursor goes with a page. Where it may not move it is written down where it stands: a first round that
    /// does not come to its end would else leave none, and the next one would look back from later on.
    pub(crate) fn cursor_after(
        &self,
        stretch: &Window,
        pulled: &Pulled,
        may_move: bool,
        is_last: bool,
    ) -> Option<Timestamp> {
        let cursor = self.cursor?;
        if pulled.is_held {
            return Some(pulled.cursor.map_or(cursor, |reached| reached.max(cursor)));
        }
        let reached = pulled.newest.filter(|_| may_move);
        // Long stretches in which nothing changed would else be read again by every round.
        let over =
            Some(stretch.to).filter(|end| is_last && *end < self.window.to && Some(*end) < self.settled);
        Some(cursor.max(reached.unwrap_or(cursor)).max(over.unwrap_or(cursor)))
    }
}
