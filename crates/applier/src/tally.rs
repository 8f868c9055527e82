//! Metrics of a batch, counted once it is committed.

use std::collections::HashMap;

use db::inbox::{EventVerdict, Origin};
use jiff::Timestamp;
use metrics::{counter, histogram};
use service::metrics as names;
use uuid::Uuid;

use crate::decided::{Decided, Overruled};

/// The events of a batch as they came.
pub(crate) struct Arrivals<'a> {
    pub(crate) event_ids: &'a [Uuid],
    /// Their sources, in the same order.
    pub(crate) sources: &'a [String],
    /// How and when each came.
    pub(crate) at: &'a [(Origin, Timestamp)],
}

/// Counts what became of a batch that took from `began` to `now`.
pub(crate) fn count(arrivals: &Arrivals<'_>, decided: &Decided, began: Timestamp, now: Timestamp) {
    histogram!(names::APPLY_BATCH).record(arrivals.event_ids.len() as f64);
    histogram!(names::APPLY_BATCH_SECONDS).record(seconds_between(began, now));
    for origin in [Origin::Webhook, Origin::Reconcile, Origin::Backfill] {
        let lag = histogram!(names::APPLY_LAG_SECONDS, "origin" => origin.as_str());
        arrivals
            .at
            .iter()
            .filter(|(of, _)| *of == origin)
            .for_each(|(_, at)| lag.record(seconds_between(*at, now)));
    }
    let source_of: HashMap<&Uuid, &String> = arrivals.event_ids.iter().zip(arrivals.sources).collect();
    let mut counts: HashMap<(&str, &'static str), u64> = Default::default();
    for outcome in &decided.outcomes {
        let source = source_of.get(&outcome.event_id).map_or("unknown", |source| source.as_str());
        *counts.entry((source, outcome.verdict.as_str())).or_default() += 1;
    }
    for ((source, outcome), count) in counts {
        counter!(names::EVENTS_OUTCOME, "source" => source.to_owned(), "outcome" => outcome).increment(count);
    }
    for (event, _) in &decided.failed {
        counter!(names::APPLY_FAILURES, "source" => event.source.clone()).increment(1);
    }
    warn_of_malformed(decided);
    warn_of_overruled(decided);
}

/// What was done for the newer fact may have to be undone by people, so each is named.
fn warn_of_overruled(decided: &Decided) {
    for Overruled { resource, newer } in &decided.overruled {
        counter!(names::FACTS_OVERRULED, "source" => resource.source.clone()).increment(1);
        tracing::warn!(
            %resource,
            newer,
            "an older fact made it final, although a newer one had been followed: look whether something has to be undone"
        );
    }
}

/// One line for a batch, not one for each event: a flood of them must not become a flood of logs.
fn warn_of_malformed(decided: &Decided) {
    let mut malformed = decided.outcomes.iter().filter(|outcome| outcome.verdict == EventVerdict::Malformed);
    if let Some(first) = malformed.next() {
        let count = 1 + malformed.count();
        tracing::warn!(event.id = %first.event_id, reason = first.reason, count, "malformed events set aside");
    }
}

fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}
