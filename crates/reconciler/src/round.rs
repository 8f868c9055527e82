//! One round: from a little before the cursor to a little before now.

use std::time::Duration;

use db::{cursors, inbox::Origin};
use jiff::Timestamp;
use profile::List;

use crate::{
    End, Pulled,
    patience::Patience,
    pull::{Keeping, Plan, Window},
    source::{SourceReader, before},
};

/// No clock is wrong by so much: what ended before it is over.
const SETTLED_AFTER: Duration = Duration::from_secs(24 * 3600);

impl SourceReader {
    /// One round of every list, one after the other; the end is that of the first that does not complete.
    ///
    /// Safe to drop: each page is stored as a whole or not at all.
    pub async fn round(&self) -> (Pulled, End) {
        let mut pulled = Pulled::default();
        let mut end = End::Complete;
        for at in 0..self.api.lists.len() {
            let (of_list, ended) = self.round_of(at).await;
            pulled = pulled.and(of_list);
            if matches!(end, End::Complete) {
                end = ended;
            }
        }
        (pulled, end)
    }

    /// Reads one round of a list and moves its cursor: with each page that is stored where the provider promises a list
    /// by time, else with the last one.
    ///
    /// The cursor comes from the instants that the provider's data tells, never from our clock: with a clock ahead
    /// of the provider's it would pass what is still to come. While nothing changes it stays, and each round reads
    /// the overlap again. Where there is no cursor yet it starts where the first round starts to look. A list that
    /// slides has none.
    pub(crate) async fn round_of(&self, at: usize) -> (Pulled, End) {
        let Some(list) = self.api.lists.get(at) else { return (Pulled::default(), End::Complete) };
        let cursor = match self.cursor(list).await {
            Ok(Some(cursor)) => cursor,
            Ok(None) => return (Pulled::default(), End::Stopped),
            Err(error) => {
                return self.ended(at, Pulled::default(), End::Failed(error.into()), None, false);
            }
        };
        let now = self.now();
        let window = self.window(list, cursor, now);
        let cursor = match list.sliding {
            Some(_) => None,
            None => Some(cursor.unwrap_or(window.from)),
        };
        if let Some(cursor) = cursor {
            self.lag.reached(at, cursor);
        }
        let plan = Plan {
            list,
            at,
            window,
            origin: Origin::Reconcile,
            cursor,
            settled: Some(before(now, SETTLED_AFTER)),
            pages_max: self.settings().pages_max,
            keeping: Keeping::Store,
        };
        let mut pulled = Pulled::default();
        let end = self.pull(&plan, &mut pulled, &mut |_| {}).await;
        let has_moved = pulled.cursor > cursor;
        self.ended(at, pulled, end, Some(window.to), has_moved)
    }

    /// Where the cursor is, if there is one; waits for the database. Nothing when the stop came first.
    async fn cursor(&self, list: &List) -> db::Result<Option<Option<Timestamp>>> {
        let mut patience = Patience::new(&self.name, &self.parts.shutdown);
        loop {
            match self.read_cursor(list).await {
                Ok(cursor) => return Ok(Some(cursor)),
                Err(error) => {
                    if !patience.bear(error).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    async fn read_cursor(&self, list: &List) -> db::Result<Option<Timestamp>> {
        let client = self.parts.pool.get().await?;
        cursors::read(&client, &self.name, &list.name).await
    }

    fn window(&self, list: &List, cursor: Option<Timestamp>, now: Timestamp) -> Window {
        let settings = self.settings();
        let overlap = list.overlap.unwrap_or_else(|| settings.overlap.get());
        let lag = list.lag.unwrap_or_else(|| settings.lag.get());
        let from = match (list.sliding, cursor) {
            (Some(length), _) => before(now, length),
            (None, Some(cursor)) => self.told_from(list, before(cursor, overlap)),
            (None, None) => {
                let lookback = settings.first_lookback.get();
                before(now, list.retention.map_or(lookback, |retention| retention.min(lookback)))
            }
        };
        let far_ahead = now.saturating_add(overlap).unwrap_or(Timestamp::MAX);
        Window { from, to: before(now, lag), far_ahead: Some(far_ahead) }
    }

    fn ended(
        &self,
        at: usize,
        pulled: Pulled,
        end: End,
        to: Option<Timestamp>,
        has_moved: bool,
    ) -> (Pulled, End) {
        if let (End::Complete, Some(to), false) = (&end, to, pulled.is_held) {
            self.lag.reached(at, to);
        }
        let list = self.api.lists.get(at).map_or("", |list| list.name.as_str());
        self.log(list, &pulled, &end, has_moved);
        self.lag.show(self.now());
        (pulled, end)
    }

    fn log(&self, list: &str, pulled: &Pulled, end: &End, has_moved: bool) {
        let Pulled { pages, items, stored, recovered, .. } = *pulled;
        let source = &self.name;
        match end {
            End::Complete if stored > 0 => {
                tracing::info!(
                    source,
                    list,
                    pages,
                    items,
                    stored,
                    recovered,
                    "round complete, the API had news"
                );
            }
            End::Complete => tracing::debug!(source, list, pages, items, "round complete"),
            End::PagesMax if has_moved => tracing::warn!(
                source,
                list,
                pages,
                items,
                stored,
                "round ended at reconciler.pages_max, the next one goes on from the cursor"
            ),
            End::PagesMax => tracing::warn!(
                source,
                list,
                pages,
                items,
                stored,
                "round ended at reconciler.pages_max and the cursor could not move: the next one reads the same pages, \
                 and never what lies behind them, unless reconciler.pages_max is raised"
            ),
            End::Stopped => tracing::debug!(source, list, pages, "round given up for the stop"),
            End::Failed(failure) => tracing::error!(
                source,
                list,
                pages,
                items,
                stored,
                error = %failure,
                "round failed, the next one goes on from the cursor: {failure}"
            ),
        }
    }
}

impl Pulled {
    /// Both together.
    fn and(self, other: Self) -> Self {
        Self {
            pages: self.pages + other.pages,
            items: self.items + other.items,
            stored: self.stored + other.stored,
            recovered: self.recovered + other.recovered,
            newest: self.newest.max(other.newest),
            cursor: self.cursor.max(other.cursor),
            beyond: self.beyond + other.beyond,
            is_held: self.is_held || other.is_held,
        }
    }
}
