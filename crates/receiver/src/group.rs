//! A group of requests that share a commit: which events it stores, and what each request is told.

use std::collections::{HashMap, HashSet};

use db::inbox::{Duplicate, NewEvent, Origin};
use uuid::Uuid;

use crate::{
    pending::{Event, Pending, Stored},
    sources::Counters,
};

/// One event with what it shares with the others of its request.
pub(crate) struct Line<'a> {
    pub(crate) request: &'a Pending,
    pub(crate) event: &'a Event,
}

/// The events sorted by (source, key), the same in every process, so that two groups with common keys never wait
/// for each other crosswise; each key once: its other deliveries are answered by the same commit.
pub(crate) fn distinct_lines(requests: &[Pending]) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = requests
        .iter()
        .flat_map(|request| request.events.iter().map(move |event| Line { request, event }))
        .collect();
    lines.sort_by(|a, b| key_of(a).cmp(&key_of(b)));
    lines.dedup_by(|later, first| {
        let same = later.event.dedup_key.is_some()
            && key_of(later).0 == key_of(first).0
            && key_of(later).1 == key_of(first).1;
        if same {
            let counters = &later.request.source.counters;
            count_duplicate(counters, Some(later.event.body_hash != first.event.body_hash));
        }
        same
    });
    lines
}

fn key_of<'a>(line: &Line<'a>) -> (&'a str, Option<&'a str>, Uuid) {
    (&line.request.source.name, line.event.dedup_key.as_deref(), line.event.event_id)
}

pub(crate) fn new_event<'a>(line: &Line<'a>) -> NewEvent<'a> {
    NewEvent {
        event_id: line.event.event_id,
        source: &line.request.source.name,
        dedup_key: line.event.dedup_key.as_deref(),
        body_hash: line.event.body_hash,
        event_type: line.event.event_type.as_deref(),
        kind: line.event.kind.as_deref(),
        resource_id: line.event.resource_id.as_deref(),
        origin: Origin::Webhook,
        received_at: line.request.received_at,
        headers: line.request.headers.as_deref(),
        body: &line.event.body,
    }
}

/// What each request is told: committed when all its events are. An event that has a key shares the fate of the line
/// that carried its key; without a key every event is a line of its own.
pub(crate) fn answers(requests: &[Pending], lines: &[Line<'_>], lost: &HashSet<Uuid>) -> Vec<Stored> {
    if lost.is_empty() {
        return vec![Stored::Committed; requests.len()];
    }
    let lost_keys: HashSet<_> = lines
        .iter()
        .filter(|line| lost.contains(&line.event.event_id))
        .filter_map(|line| Some((&line.request.source.name, line.event.dedup_key.as_deref()?)))
        .collect();
    let is_lost = |request: &Pending, event: &Event| match event.dedup_key.as_deref() {
        Some(key) => lost_keys.contains(&(&request.source.name, key)),
        None => lost.contains(&event.event_id),
    };
    let answer = |request: &Pending| match request.events.iter().any(|event| is_lost(request, event)) {
        true => Stored::Unavailable,
        false => Stored::Committed,
    };
    requests.iter().map(answer).collect()
}

/// Counts what became of the lines.
pub(crate) fn count(lines: &[Line<'_>], duplicates: &[Duplicate], lost: &HashSet<Uuid>) {
    let known: HashMap<Uuid, Option<bool>> =
        duplicates.iter().map(|duplicate| (duplicate.event_id, duplicate.body_differs)).collect();
    for line in lines.iter().filter(|line| !lost.contains(&line.event.event_id)) {
        let counters = &line.request.source.counters;
        match known.get(&line.event.event_id) {
            None => counters.events_stored.increment(1),
            Some(differs) => {
                count_duplicate(counters, *differs);
                if *differs == Some(true) {
                    tracing::warn!(source = %line.request.source.name, key = line.event.dedup_key,
                        "a known event came again with another body; the first one counts");
                }
            }
        }
    }
}

fn count_duplicate(counters: &Counters, body_differs: Option<bool>) {
    match body_differs {
        Some(false) => counters.duplicates_same.increment(1),
        Some(true) => counters.duplicates_different.increment(1),
        None => counters.duplicates_unknown.increment(1),
    }
}
