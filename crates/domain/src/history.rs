//! What a row remembers of its past so that any later fact finds its right place.

use serde::{Deserialize, Serialize};

use crate::{Flow, Version};

/// One status at one version. Serialised as `[[major, rank], status]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Version, String)", into = "(Version, String)")]
pub struct Entry {
    /// When, in the order of facts.
    pub version: Version,
    /// Which status was told.
    pub status: String,
}

impl From<(Version, String)> for Entry {
    fn from((version, status): (Version, String)) -> Self {
        Self { version, status }
    }
}

impl From<Entry> for (Version, String) {
    fn from(entry: Entry) -> Self {
        (entry.version, entry.status)
    }
}

/// The (version, status) pairs that matter to the fold, in the order of facts.
///
/// Equal versions are ordered by the status's rank, then its name, so the order never depends on arrival.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History {
    entries: Vec<Entry>,
}

/// What a fold of a history ends in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Folded<'a> {
    pub(crate) status: &'a str,
    /// Version of the newest entry the fold accepted.
    pub(crate) version: Version,
}

impl History {
    /// The remembered pairs, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether this status was ever told, at whatever version.
    pub fn reached(&self, status: &str) -> bool {
        self.entries.iter().any(|entry| entry.status == status)
    }

    /// Puts a pair in its place and forgets what no later fact can make matter.
    pub(crate) fn insert(&mut self, version: Version, status: &str, flow: &Flow) {
        let place = self.entries.binary_search_by(|entry| {
            (entry.version, flow.rank(&entry.status), entry.status.as_str()).cmp(&(
                version,
                flow.rank(status),
                status,
            ))
        });
        if let Err(at) = place {
            self.entries.insert(at, Entry { version, status: status.to_owned() });
            if flow.keeps_short_history() {
                self.forget_between_first_and_last(status);
            }
        }
    }

    /// Of one status only the first and the last entry can decide anything; [`Flow::keeps_short_history`]
    /// says when and why.
    fn forget_between_first_and_last(&mut self, status: &str) {
        let of_status = |entry: &Entry| entry.status == status;
        let (Some(first), Some(last)) =
            (self.entries.iter().position(of_status), self.entries.iter().rposition(of_status))
        else {
            return;
        };
        let mut at = 0;
        self.entries.retain(|entry| {
            let keep = at <= first || at >= last || entry.status != status;
            at += 1;
            keep
        });
    }

    /// Walks the pairs in the order of facts. A terminal status is left only by the exits the flow lists. Where the
    /// provider was asked about a moment, its word stands for all that events told of that moment.
    /// `None` when nothing was ever told.
    pub(crate) fn fold<'a>(&'a self, flow: &Flow) -> Option<Folded<'a>> {
        let moments = self.entries.chunk_by(|one, next| one.version.major == next.version.major);
        // The words stand last in their moment.
        let mut entries = moments.flat_map(|moment| match moment.last() {
            Some(last) if last.version.is_asked() => {
                let events = moment.iter().take_while(|entry| !entry.version.is_asked()).count();
                &moment[events..]
            }
            _ => moment,
        });
        let first = entries.next()?;
        let mut now = Folded { status: &first.status, version: first.version };
        for entry in entries {
            if flow.allows(now.status, &entry.status) {
                now = Folded { status: &entry.status, version: entry.version };
            }
        }
        Some(now)
    }
}
