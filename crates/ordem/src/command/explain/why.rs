//! Why each event ended as it did: its fact is read again, and the decisions are made once more, in the order in
//! which they were made. Where that does not give what was recorded, only what was recorded is told.

use std::panic::{AssertUnwindSafe, catch_unwind};

use db::operations::EventStory;
use domain::{Decision, Fact, Flow, Outcome, Resource, ResourceId, decide};
use profile::{KeptHeaders, Reading, Stored};
use service::settings::Configured;

use crate::words::{instant, version};

/// What is told of one event.
pub(crate) struct Told {
    /// What it says, read again.
    pub(crate) fact: Option<Fact>,
    /// Why it ended as it did.
    pub(crate) why: String,
}

/// What is told of all.
pub(crate) struct AllTold {
    /// One for each event, in the order given.
    pub(crate) readings: Vec<Told>,
    /// Whether the decisions made once more differ from those recorded.
    pub(crate) lost_track: bool,
}

/// Reads the events again and decides them once more.
pub(crate) fn tell(configured: &Configured, id: &ResourceId, stored: &[EventStory]) -> AllTold {
    let mut readings: Vec<Told> =
        stored.iter().map(|event| Told { fact: fact(configured, id, event), why: recorded(event) }).collect();
    let mut lost_track = false;
    if let Some(flow) = configured.flow(&id.kind) {
        let mut row: Option<Resource> = None;
        for at in in_order_of_decision(stored) {
            let Some(fact) = &readings[at].fact else { continue };
            let decision = decide(row.as_ref(), fact, flow);
            if !lost_track && is_as_recorded(&decision, &stored[at]) {
                readings[at].why = words(row.as_ref(), fact, &decision, flow, &id.kind);
            } else {
                lost_track = true;
            }
            row = Some(decision.resource);
        }
    }
    AllTold { readings, lost_track }
}

/// Those that went through `decide`: a batch decides its events by their ids and gives them one time.
fn in_order_of_decision(stored: &[EventStory]) -> Vec<usize> {
    let decided = |event: &EventStory| {
        matches!(event.outcome.as_deref(), Some("applied" | "stale" | "terminal_regression"))
    };
    let mut order: Vec<usize> = (0..stored.len()).filter(|at| decided(&stored[*at])).collect();
    order.sort_by_key(|at| (stored[*at].applied_at, stored[*at].event_id));
    order
}

fn is_as_recorded(decision: &Decision, event: &EventStory) -> bool {
    let moved = decision.transition.as_ref();
    event.outcome.as_deref() == Some(decision.outcome.as_str())
        && event.status_to.as_deref() == moved.map(|moved| moved.to.as_str())
        && event.status_from.as_deref() == moved.and_then(|moved| moved.from.as_deref())
}

fn fact(configured: &Configured, id: &ResourceId, event: &EventStory) -> Option<Fact> {
    let profile = configured.profiles.get(&id.source)?;
    let headers = KeptHeaders::parse(event.headers.as_deref());
    let stored = Stored {
        source: &id.source,
        origin: event.origin,
        body: &event.body,
        headers: &headers,
        event_type: event.event_type.as_deref(),
        event_key: event.dedup_key.as_deref().unwrap_or_default(),
        received_at: event.received_at,
    };
    // An event may be dead just because reading it panics: its story must be told all the same.
    let read =
        catch_unwind(AssertUnwindSafe(|| profile.read(&stored, &|kind| configured.flow(kind)))).ok()?;
    match read {
        Reading::Fact { resource, fact } if resource == *id => Some(fact),
        Reading::Fact { .. }
        | Reading::Fetch { .. }
        | Reading::Ignored(_)
        | Reading::Test(_)
        | Reading::Malformed(_) => None,
    }
}

/// Why, from what was recorded alone.
fn recorded(event: &EventStory) -> String {
    let reason = || event.reason.clone();
    match event.outcome.as_deref() {
        None => waiting(event),
        Some("applied") => reason().unwrap_or_else(|| match &event.status_to {
            Some(to) => format!("it took the row to `{to}`"),
            None => "it was newer than the row and told the same status".to_owned(),
        }),
        Some("stale") => reason().unwrap_or_else(|| "it was not newer than the row".to_owned()),
        Some("dead") => {
            let last = reason().unwrap_or_else(|| "no reason was recorded".to_owned());
            format!("given up after {} attempts: {last}", event.attempts)
        }
        Some(_) => reason().unwrap_or_else(|| "no reason was recorded".to_owned()),
    }
}

fn waiting(event: &EventStory) -> String {
    match (event.due_at, event.is_queued) {
        (Some(due), _) => {
            let last = event.last_error.as_deref().unwrap_or("no reason was recorded");
            format!("attempt {} failed: {last}; the next is due {}", event.attempts, instant(due))
        }
        (None, true) => "it waits in the queue".to_owned(),
        (None, false) => "it is being applied in this moment".to_owned(),
    }
}

/// Why, from the row as it was and the decision.
fn words(row: Option<&Resource>, fact: &Fact, decision: &Decision, flow: &Flow, kind: &str) -> String {
    let Some(row) = row else { return format!("the first fact of this {kind}") };
    let (new, old) = (version(fact.version), version(row.version));
    let said = match (decision.outcome, &decision.transition) {
        (Outcome::Applied, Some(_)) if fact.version > row.version => {
            format!("version {new} is newer than {old}")
        }
        (Outcome::Applied, Some(moved)) => format!(
            "version {new} is not newer than {old}, but with it the facts in their order end in `{}`",
            moved.to
        ),
        (Outcome::Applied, None) => {
            format!("version {new} is newer than {old} and tells `{}` again", fact.status)
        }
        (Outcome::Stale, _) => format!("version {new} is not newer than {old}{}", filled(row, decision)),
        (Outcome::TerminalRegression, _) => {
            let (held, told, exits) = (&row.status, &fact.status, exits(flow, &row.status));
            format!("version {new} is newer than {old}, but `{held}` {exits}: `{told}` does not move it")
        }
    };
    match &decision.reached {
        Some(_) if decision.transition.is_none() => format!("{said}; from now on it counts as reached"),
        _ => said,
    }
}

/// Which fields a fact that moved nothing still gave.
fn filled(row: &Resource, decision: &Decision) -> String {
    let changed =
        decision.resource.fields.iter().filter(|(name, field)| row.fields.get(*name) != Some(field));
    let names: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!("; it still told {}", names.join(", ")) }
}

fn exits(flow: &Flow, from: &str) -> String {
    let exits: Vec<String> = flow
        .statuses()
        .iter()
        .filter(|to| *to != from && flow.allows(from, to))
        .map(|to| format!("`{to}`"))
        .collect();
    if exits.is_empty() {
        "is never left".to_owned()
    } else {
        format!("is left only to {}", exits.join(", "))
    }
}
