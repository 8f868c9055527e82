//! From the first to the last in batches, each a transaction of its own: a hundred thousand rows neither hold up the
//! daemons nor are lost together.

use std::collections::HashSet;

use uuid::Uuid;

use super::{Moved, Row, Skipped, confirm, confirm::How, progress::Progress};

/// Rows of one batch. Retrying takes a lock for each resource, and the server's table of locks is shared by all.
const BATCH: usize = 500;
/// A batch that the database asks to repeat is tried this often.
const TRIES: usize = 5;

/// Rows that were looked at.
pub(crate) struct Batch<T> {
    /// Those that may be moved.
    pub(crate) chosen: Vec<T>,
    /// Those that are left alone.
    pub(crate) skipped: Vec<Skipped>,
}

/// How one kind of row is found and moved.
pub(crate) trait Batches {
    /// The row.
    type Item: Row;
    /// What is done with it, as a participle.
    const VERB: &'static str;

    /// At most `limit` ids above `after`, in their order.
    async fn find(&mut self, after: Uuid, limit: usize) -> anyhow::Result<Vec<Uuid>>;

    /// Which of these may be moved.
    async fn judge(&mut self, ids: &[Uuid]) -> anyhow::Result<Batch<Self::Item>>;

    /// Moves them, in one transaction; returns those that were moved.
    async fn apply(&mut self, chosen: &[Self::Item]) -> db::Result<Vec<Uuid>>;
}

/// Looks, asks where a person is there to answer, and moves.
pub(crate) async fn run<B: Batches>(batches: &mut B, how: How) -> anyhow::Result<Moved<B::Item>> {
    if how.asks() {
        let found = through(batches, how, true).await?;
        if found.found == 0 || !confirm::ask(&found)? {
            return Ok(found);
        }
    }
    through(batches, how, how.dry_run).await
}

/// Goes through all once.
async fn through<B: Batches>(batches: &mut B, how: How, dry_run: bool) -> anyhow::Result<Moved<B::Item>> {
    let mut moved = Moved::new(B::VERB, dry_run);
    let mut progress = Progress::start(if dry_run { "found" } else { B::VERB });
    let (mut last, mut left) = (Uuid::nil(), how.limit.unwrap_or(u64::MAX));
    loop {
        let size = BATCH.min(usize::try_from(left).unwrap_or(BATCH));
        let mut ids = batches.find(last, size + 1).await?;
        let more = ids.len() > size;
        ids.truncate(size);
        let Some(newest) = ids.last() else {
            moved.more = more;
            break;
        };
        last = *newest;
        left -= ids.len() as u64;
        let mut batch = batches.judge(&ids).await?;
        if !dry_run && !batch.chosen.is_empty() {
            moved.done += apply(batches, &mut batch).await?;
        }
        moved.add(batch);
        progress.show(if dry_run { moved.found } else { moved.done });
        if !more || left == 0 {
            moved.more = more;
            break;
        }
    }
    progress.end();
    Ok(moved)
}

/// Moves a batch; what changed since it was judged is left alone.
async fn apply<B: Batches>(batches: &mut B, batch: &mut Batch<B::Item>) -> anyhow::Result<u64> {
    let mut tries = 0;
    let done = loop {
        tries += 1;
        match batches.apply(&batch.chosen).await {
            Err(db::Error::Retry(_)) if tries < TRIES => {}
            other => break other?,
        }
    };
    let done: HashSet<Uuid> = done.into_iter().collect();
    let (chosen, changed) =
        std::mem::take(&mut batch.chosen).into_iter().partition(|row| done.contains(&row.id()));
    batch.chosen = chosen;
    batch.skipped.extend(Vec::into_iter(changed).map(|row: B::Item| Skipped {
        id: row.id(),
        reason: "changed while this was at work: run it again".to_owned(),
    }));
    Ok(done.len() as u64)
}
