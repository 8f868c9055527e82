//! One round: from a little before the cursor to a little before now.

use db::{cursors, inbox::Origin};
use jiff::Timestamp;

use crate::{
    End, Pulled,
    patience::Patience,
    pull::{Keeping, Plan, Window},
    source::{SourceReader, before},
};

impl SourceReader {
    /// Reads one round and moves the cursor: with each page that is stored where the provider promises a list by time,
    /// else with the last one.
    ///
    /// The cursor comes from the instants that the provider's data tells, never from our clock: with a clock ahead
    /// of the provider's it would pass what is still to come. While nothing changes it stays, and each round reads
    /// the overlap again. Where there is no cursor yet it starts where the first round starts to look.
    ///
    /// Safe to drop: each page is stored as a whole or not at all.
    pub async fn round(&self) -> (Pulled, End) {
        let cursor = match self.cursor().await {
            Ok(Some(cursor)) => cursor,
            Ok(None) => return (Pulled::default(), End::Stopped),
            Err(error) => return self.ended(Pulled::default(), End::Failed(error.into()), None, false),
        };
        let window = self.window(cursor, self.now());
        let cursor = cursor.unwrap_or(window.from);
        self.lag.reached(cursor);
        let pages_max = self.settings().pages_max;
        let plan = Plan {
            window,
            origin: Origin::Reconcile,
            cursor: Some(cursor),
            pages_max,
            keeping: Keeping::Store,
        };
        let (pulled, end) = self.pull(&plan, &mut |_| {}).await;
        let has_moved = pulled.cursor > Some(cursor);
        self.ended(pulled, end, Some(window.to), has_moved)
    }

    /// Where the cursor is, if there is one; waits for the database. Nothing when the stop came first.
    async fn cursor(&self) -> db::Result<Option<Option<Timestamp>>> {
        let mut patience = Patience::new(&self.name, &self.parts.shutdown);
        loop {
            match self.read_cursor().await {
                Ok(cursor) => return Ok(Some(cursor)),
                Err(error) => {
                    if !patience.bear(error).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    async fn read_cursor(&self) -> db::Result<Option<Timestamp>> {
        let client = self.parts.pool.get().await?;
        cursors::read(&client, &self.name, self.cursor_name()).await
    }

    fn window(&self, cursor: Option<Timestamp>, now: Timestamp) -> Window {
        let settings = self.settings();
        let overlap = settings.overlap.get();
        let from = cursor
            .map_or_else(|| before(now, settings.first_lookback.get()), |cursor| before(cursor, overlap));
        let far_ahead = now.saturating_add(overlap).unwrap_or(Timestamp::MAX);
        Window { from, to: before(now, settings.lag.get()), far_ahead: Some(far_ahead) }
    }

    fn ended(&self, pulled: Pulled, end: End, to: Option<Timestamp>, has_moved: bool) -> (Pulled, End) {
        let Pulled { pages, items, stored, recovered, .. } = pulled;
        let source = &self.name;
        match &end {
            End::Complete => {
                if let Some(to) = to {
                    self.lag.reached(to);
                }
                if stored > 0 {
                    tracing::info!(
                        source,
                        pages,
                        items,
                        stored,
                        recovered,
                        "round complete, the API had news"
                    );
                } else {
                    tracing::debug!(source, pages, items, "round complete");
                }
            }
            End::PagesMax if has_moved => tracing::warn!(
                source,
                pages,
                items,
                stored,
                "round ended at reconciler.pages_max, the next one goes on from the cursor"
            ),
            End::PagesMax => tracing::warn!(
                source,
                pages,
                items,
                stored,
                "round ended at reconciler.pages_max and the cursor could not move: the next one reads the same pages, \
                 and never what lies behind them, unless reconciler.pages_max is raised"
            ),
            End::Stopped => tracing::debug!(source, pages, "round given up for the stop"),
            End::Failed(failure) => tracing::error!(
                source,
                pages,
                items,
                stored,
                error = %failure,
                "round failed, the next one goes on from the cursor: {failure}"
            ),
        }
        self.lag.show(self.now());
        (pulled, end)
    }
}
