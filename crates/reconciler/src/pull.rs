//! Reads a window of time from the API, page by page.

use std::{collections::HashSet, time::Duration};

use db::inbox::Origin;
use jiff::Timestamp;
use metrics::counter;
use profile::List;
use service::metrics as names;

use crate::{
    Failure, backoff::Backoff, order::Order, page::PageItems, provider::Trouble, source::SourceReader,
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
pub(crate) struct Plan {
    pub(crate) window: Window,
    pub(crate) origin: Origin,
    /// Moves the cursor, which stands here: with each page of a list by time, else with the last one.
    pub(crate) cursor: Option<Timestamp>,
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

/// All pages of a round, as a multiple of `reconciler.pages_max`.
const PAGES_IN_ALL: u32 = 10;

impl SourceReader {
    /// Reads what changed from `from` to `to` into the inbox, under this origin; the cursor stays where it is.
    /// `progress` is told after each page. However many pages there are, all are read.
    ///
    /// Safe to drop: each page is stored as a whole or not at all.
    pub async fn pull_window(
        &self,
        from: Timestamp,
        to: Timestamp,
        origin: Origin,
        progress: &mut (dyn FnMut(&Pulled) + Send),
    ) -> (Pulled, End) {
        let window = Window { from, to, far_ahead: None };
        let plan = Plan { window, origin, cursor: None, pages_max: u32::MAX, keeping: Keeping::Store };
        self.pull(&plan, progress).await
    }

    /// As [`SourceReader::pull_window`], but nothing stays stored: what it tells as stored would have been.
    pub async fn count_window(
        &self,
        from: Timestamp,
        to: Timestamp,
        origin: Origin,
        progress: &mut (dyn FnMut(&Pulled) + Send),
    ) -> (Pulled, End) {
        let window = Window { from, to, far_ahead: None };
        let plan = Plan { window, origin, cursor: None, pages_max: u32::MAX, keeping: Keeping::Count };
        self.pull(&plan, progress).await
    }

    pub(crate) async fn pull(
        &self,
        plan: &Plan,
        progress: &mut (dyn FnMut(&Pulled) + Send),
    ) -> (Pulled, End) {
        let mut pulled = Pulled::default();
        let end = match self.pages(plan, &mut pulled, progress).await {
            Ok(end) => end,
            Err(failure) => End::Failed(failure),
        };
        (pulled, end)
    }

    async fn pages(
        &self,
        plan: &Plan,
        pulled: &mut Pulled,
        progress: &mut (dyn FnMut(&Pulled) + Send),
    ) -> Result<End, Failure> {
        let Some(list) = &self.api.list else { return Ok(End::Complete) };
        let mut order = Order::new(list.sorted);
        let mut tokens = HashSet::new();
        let mut token: Option<String> = None;
        let mut beyond = 0;
        while beyond < plan.pages_max && pulled.pages < plan.pages_max.saturating_mul(PAGES_IN_ALL) {
            let mut body;
            let mut backoff = Backoff::new(self.settings());
            let page = loop {
                let answer = self.fetch(list, plan.window.from, token.as_deref(), &mut backoff).await?;
                let Some(answer) = answer else { return Ok(End::Stopped) };
                body = answer;
                match self.api.page(&body) {
                    Ok(page) => break page,
                    // What stands between us and the provider answers like this while it is busy.
                    Err(error) => self.bear(&mut backoff, Trouble::Transient(error.into())).await?,
                }
            };
            let items = self.read_items(&page.items, &plan.window, &mut order, self.now());
            let next = list.next(token.as_deref(), page.items.len(), page.next);
            let is_last = next.is_none() || (items.is_beyond && order.is_ascending());
            pulled.newest = pulled.newest.max(items.newest);
            beyond += u32::from(items.newest.is_none() || items.newest > plan.cursor);
            // Where it may not move it is written down where it stands: a first round that does not come to its end
            // would else leave none, and the next one would look back from later on.
            let reached = pulled.newest.filter(|_| order.is_ascending() || is_last);
            let cursor = plan.cursor.map(|cursor| reached.unwrap_or(cursor).max(cursor));
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
            token = next;
            if !token.clone().is_some_and(|token| tokens.insert(token)) {
                return Err(Failure::PageRepeats);
            }
        }
        Ok(End::PagesMax)
    }

    /// Stores one page and counts it; false when the stop came first.
    async fn keep(
        &self,
        items: &PageItems<'_>,
        plan: &Plan,
        cursor: Option<Timestamp>,
        pulled: &mut Pulled,
    ) -> Result<bool, Failure> {
        let Some(stored) = self.store(items, plan, cursor).await? else { return Ok(false) };
        pulled.pages += 1;
        pulled.stored += stored.events;
        pulled.recovered += stored.facts;
        if plan.origin == Origin::Reconcile {
            counter!(names::RECONCILER_RECOVERED, "source" => self.name.clone()).increment(stored.facts);
        }
        if let Some(cursor) = stored.cursor {
            pulled.cursor = Some(cursor);
            self.lag.reached(cursor);
        }
        Ok(true)
    }

    /// Gets one answer, asking again where that may help; `None` when the stop came first.
    async fn fetch(
        &self,
        list: &List,
        since: Timestamp,
        token: Option<&str>,
        backoff: &mut Backoff,
    ) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            let asked = self.provider.page(&self.api, list, since, token, &self.parts.clock);
            let Some(answer) = self.parts.shutdown.unless_triggered(asked).await else { return Ok(None) };
            match answer {
                Ok(body) => return Ok(Some(body)),
                Err(trouble) => self.bear(backoff, trouble).await?,
            }
        }
    }

    /// Waits until the page may be asked for again, or fails where that would not help.
    async fn bear(&self, backoff: &mut Backoff, trouble: Trouble) -> Result<(), Failure> {
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
