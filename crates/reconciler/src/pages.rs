//! Reads one stretch of a list page by page; each is stored before the next is asked for.

use db::inbox::Origin;
use jiff::Timestamp;
use metrics::counter;
use profile::Page;
use service::metrics as names;

use crate::{
    End, Failure, Pulled, Tell,
    backoff::Backoff,
    page::PageItems,
    provider::Answer,
    pull::{Plan, Window},
    source::SourceReader,
    store::StoredPage,
    trouble::{Trouble, header},
    walk::{Known, Step, Walk},
};

/// All pages of a round, as a multiple of `reconciler.pages_max`.
const PAGES_IN_ALL: u32 = 10;

impl SourceReader {
    /// Reads and stores the pages of one stretch, and moves the cursor as far as all before it was read.
    pub(crate) async fn pages(
        &self,
        plan: &Plan<'_>,
        stretch: &Window,
        pulled: &mut Pulled,
        progress: &mut Tell<'_>,
    ) -> Result<End, Failure> {
        let list = plan.list;
        let mut walk = Walk::new(plan, stretch);
        let mut before = pulled.beyond;
        while pulled.beyond < plan.pages_max && pulled.pages < plan.pages_max.saturating_mul(PAGES_IN_ALL) {
            let mut answer;
            let mut backoff = Backoff::new(self.settings());
            let page = loop {
                let Some(got) = self.fetch(plan, stretch, &walk, &mut backoff).await? else {
                    return Ok(End::Stopped);
                };
                answer = got;
                let Some(body) = &answer.body else { break Page { items: Vec::new(), next: None } };
                match list.page(walk.asked.as_deref(), body, &|name| header(&answer.headers, name)) {
                    Ok(page) => break page,
                    // What stands between us and the provider answers like this while it is busy.
                    Err(error) => self.bear(&mut backoff, Trouble::Transient(error.into())).await?,
                }
            };
            let items = self.read_items(list, &page.items, stretch, &mut walk.order, self.now());
            let step = walk.step(list, &page, &items, stretch)?;
            let is_last = step == Step::End;
            let is_whole = walk.is_whole(&step);
            pulled.saw(&items, !page.items.is_empty(), plan.cursor);
            let may_move = is_whole && (walk.order.is_ascending() || is_last);
            let cursor = plan.cursor_after(stretch, pulled, may_move, is_last && is_whole);
            let Some(stored) = self.keep(&items, plan, cursor, pulled).await? else {
                return Ok(End::Stopped);
            };
            pulled.pages += 1;
            pulled.items += page.items.len() as u64;
            counter!(names::RECONCILER_ITEMS, "source" => self.name.clone())
                .increment(page.items.len() as u64);
            progress(pulled);
            match walk.take(step, stored.events)? {
                Known::Open => continue,
                Known::Again => {
                    pulled.beyond = before;
                    continue;
                }
                Known::Moving => self.hold(plan, pulled),
                Known::Whole if is_whole => {}
                Known::Whole => {
                    let may_move = walk.order.is_ascending() || is_last;
                    let cursor = plan.cursor_after(stretch, pulled, may_move, is_last);
                    if self.keep(&PageItems::default(), plan, cursor, pulled).await?.is_none() {
                        return Ok(End::Stopped);
                    }
                }
            }
            if is_last {
                return Ok(End::Complete);
            }
            before = pulled.beyond;
        }
        Ok(End::PagesMax)
    }

    /// Stores one page and counts what it brought; `None` when the stop came first.
    async fn keep(
        &self,
        items: &PageItems<'_>,
        plan: &Plan<'_>,
        cursor: Option<Timestamp>,
        pulled: &mut Pulled,
    ) -> Result<Option<StoredPage>, Failure> {
        let cursor = cursor.map(|to| (plan.list.name.as_str(), to));
        let Some(stored) = self.store(items, plan.origin, plan.keeping, cursor).await? else {
            return Ok(None);
        };
        pulled.stored += stored.events;
        pulled.recovered += stored.facts;
        if plan.origin == Origin::Reconcile {
            counter!(names::RECONCILER_RECOVERED, "source" => self.name.clone()).increment(stored.facts);
        }
        if let Some(cursor) = stored.cursor {
            pulled.cursor = Some(cursor);
            self.lag.reached(plan.at, cursor);
        }
        Ok(Some(stored))
    }

    /// Leaves the cursor where it is: the next round reads all of this again.
    fn hold(&self, plan: &Plan<'_>, pulled: &mut Pulled) {
        pulled.is_held = true;
        tracing::warn!(
            source = self.name,
            list = plan.list.name,
            "the list goes on moving under its page numbers, each reading brought what the one before had passed over: \
             the cursor waits for the next round"
        );
    }

    /// Gets one answer, asking again where that may help; `None` when the stop came first.
    async fn fetch(
        &self,
        plan: &Plan<'_>,
        stretch: &Window,
        walk: &Walk,
        backoff: &mut Backoff,
    ) -> Result<Option<Answer>, Failure> {
        let call = plan.list.call(walk.from, stretch.to, walk.asked.as_deref(), &self.provider.constants);
        loop {
            let asked = self.provider.page(&self.api, &call, &self.parts.clock);
            let Some(answer) = self.parts.shutdown.unless_triggered(asked).await else { return Ok(None) };
            match answer {
                Ok(answer) => return Ok(Some(answer)),
                Err(trouble) => self.bear(backoff, trouble).await?,
            }
        }
    }
}

impl Pulled {
    /// Counts what a page told of time.
    fn saw(&mut self, items: &PageItems<'_>, has_any: bool, cursor: Option<Timestamp>) {
        self.newest = self.newest.max(items.newest);
        let is_beyond = items.newest.is_none() || items.newest > cursor;
        self.beyond += u32::from(is_beyond && has_any);
    }
}
