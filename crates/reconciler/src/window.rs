//! Reads any window of time from the API, without the cursor: first loads, migrations, gaps.

use std::time::Duration;

use db::inbox::Origin;
use jiff::Timestamp;
use profile::List;

use crate::{
    End, Pulled,
    pull::{Keeping, Plan, Tell, Window},
    source::{SourceReader, before},
};

impl SourceReader {
    /// Reads what changed from `from` to `to` into the inbox, under this origin; the cursor stays where it is.
    /// `progress` is told after each page. However many pages there are, all are read, of every list.
    ///
    /// Safe to drop: each page is stored as a whole or not at all.
    pub async fn pull_window(
        &self,
        from: Timestamp,
        to: Timestamp,
        origin: Origin,
        progress: &mut Tell<'_>,
    ) -> (Pulled, End) {
        self.all_of_window(from, to, origin, Keeping::Store, progress).await
    }

    /// As [`SourceReader::pull_window`], but nothing stays stored: what it tells as stored would have been.
    pub async fn count_window(
        &self,
        from: Timestamp,
        to: Timestamp,
        origin: Origin,
        progress: &mut Tell<'_>,
    ) -> (Pulled, End) {
        self.all_of_window(from, to, origin, Keeping::Count, progress).await
    }

    async fn all_of_window(
        &self,
        from: Timestamp,
        to: Timestamp,
        origin: Origin,
        keeping: Keeping,
        progress: &mut Tell<'_>,
    ) -> (Pulled, End) {
        let mut pulled = Pulled::default();
        for (at, list) in self.api.lists.iter().enumerate() {
            let window = Window { from: self.told_from(list, from), to, far_ahead: None };
            let plan =
                Plan { list, at, window, origin, cursor: None, settled: None, pages_max: u32::MAX, keeping };
            let end = self.pull(&plan, &mut pulled, progress).await;
            if !matches!(end, End::Complete) {
                return (pulled, end);
            }
        }
        (pulled, End::Complete)
    }

    /// From when on a list can be read that is wanted from `from` on: some providers forget. That is said, for it may
    /// be a gap.
    pub(crate) fn told_from(&self, list: &List, from: Timestamp) -> Timestamp {
        let oldest = list.retention.map(|retention| before(self.now(), retention.saturating_sub(MARGIN)));
        match oldest.filter(|oldest| *oldest > from) {
            Some(oldest) => {
                tracing::error!(
                    source = self.name,
                    list = list.name,
                    %from,
                    %oldest,
                    "the provider's list does not reach back that far: what changed between the two instants cannot be read"
                );
                oldest
            }
            None => from,
        }
    }
}

/// A provider refuses an instant that it has forgotten by the time that the call arrives.
const MARGIN: Duration = Duration::from_secs(600);
