//! Reads a window of time from a list of the API, page by page.

use std::{collections::HashSet, time::Duration};

use db::inbox::Origin;
use jiff::Timestamp;
use metrics::counter;
use profile::{List, Page};
use service::metrics as names;

use crate::{
    Failure,
    backoff::Backoff,
    order::Order,
    page::PageItems,
    provider::Answer,
    source::SourceReader,
    trouble::{Trouble, header},
};

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

/// All pages of a round, as a multiple of `reconciler.pages_max`.
const PAGES_IN_ALL: u32 = 10;

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

    async fn pages(
        &self,
        plan: &Plan<'_>,
        window: &Window,
        pulled: &mut Pulled,
        progress: &mut Tell<'_>,
    ) -> Result<End, Failure> {
        let list = plan.list;
        let mut order = Order::new(list.sorted);
        let mut seen = HashSet::new();
        let mut asked: Option<String> = None;
        while pulled.beyond < plan.pages_max && pulled.pages < plan.pages_max.saturating_mul(PAGES_IN_ALL) {
            let mut answer;
            let mut backoff = Backoff::new(self.settings());
            let page = loop {
                let Some(got) = self.fetch(list, window, asked.as_deref(), &mut backoff).await? else {
                    return Ok(End::Stopped);
                };
                answer = got;
                let Some(body) = &answer.body else { break Page { items: Vec::new(), next: None } };
                match list.page(asked.as_deref(), body, &|name| header(&answer.headers, name)) {
                    Ok(page) => break page,
                    // What stands between us and the provider answers like this while it is busy.
                    Err(error) => self.bear(&mut backoff, Trouble::Transient(error.into())).await?,
                }
            };
            let items = self.read_items(list, &page.items, window, &mut order, self.now());
            let is_last = page.next.is_none() || (items.is_beyond && order.is_ascending());
            pulled.newest = pulled.newest.max(items.newest);
            let is_beyond = items.newest.is_none() || items.newest > plan.cursor;
            pulled.beyond += u32::from(is_beyond && !page.items.is_empty());
            let cursor = plan.cursor_after(window, pulled.newest, order.is_ascending() || is_last, is_last);
            if !self.keep(&items, plan, cursor, pulled).await? {
                return Ok(End::Stopped);
            }
            pulled.items += page.items.len() as u64;
            counter!(names::RECONCILER_ITEMS, "source" => self.name.clone())
                .increment(page.items.len() as u64);
            progress(pulled);
            if is_last {
                return Ok(End::Complete);
            }
            asked = page.next;
            if !asked.clone().is_some_and(|next| seen.insert(next)) {
                return Err(Failure::PageRepeats);
            }
        }
        Ok(End::PagesMax)
    }

    /// Stores one page and counts it; false when the stop came first.
    async fn keep(
        &self,
        items: &PageItems<'_>,
        plan: &Plan<'_>,
        cursor: Option<Timestamp>,
        pulled: &mut Pulled,
    ) -> Result<bool, Failure> {
        let Some(stored) = self
            .store(items, plan.origin, plan.keeping, cursor.map(|to| (plan.list.name.as_str(), to)))
            .await?
        else {
            return Ok(false);
        };
        pulled.pages += 1;
        pulled.stored += stored.events;
        pulled.recovered += stored.facts;
        if plan.origin == Origin::Reconcile {
            counter!(names::RECONCILER_RECOVERED, "source" => self.name.clone()).increment(stored.facts);
        }
        if let Some(cursor) = stored.cursor {
            pulled.cursor = Some(cursor);
            self.lag.reached(plan.at, cursor);
        }
        Ok(true)
    }

    /// Gets one answer, asking again where that may help; `None` when the stop came first.
    async fn fetch(
        &self,
        list: &List,
        window: &Window,
        page: Option<&str>,
        backoff: &mut Backoff,
    ) -> Result<Option<Answer>, Failure> {
        let call = list.call(window.from, window.to, page, &self.provider.constants);
        loop {
            let asked = self.provider.page(&self.api, &call, &self.parts.clock);
            let Some(answer) = self.parts.shutdown.unless_triggered(asked).await else { return Ok(None) };
            match answer {
                Ok(answer) => return Ok(Some(answer)),
                Err(trouble) => self.bear(backoff, trouble).await?,
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
    fn cursor_after(
        &self,
        stretch: &Window,
        newest: Option<Timestamp>,
        may_move: bool,
        is_last: bool,
    ) -> Option<Timestamp> {
        let cursor = self.cursor?;
        let reached = newest.filter(|_| may_move);
        // Long stretches in which nothing changed would else be read again by every round.
        let over =
            Some(stretch.to).filter(|end| is_last && *end < self.window.to && Some(*end) < self.settled);
        Some(cursor.max(reached.unwrap_or(cursor)).max(over.unwrap_or(cursor)))
    }
}
