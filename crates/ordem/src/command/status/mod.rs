//! `ordem status`: what waits, what went on in the last hour, and what is switched on.

mod text;

use std::{collections::BTreeSet, path::Path};

use db::{
    ids::first_id,
    lookups::{self, LookupBacklog},
    operations::{self, DestinationBacklog, FailureGroup, RecentRefusal},
};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use service::settings::Configured;
use uuid::Uuid;

use crate::{session::Session, words::seconds_between};

/// Events looked at for the last hour's outcomes: counting more would burden a busy database for a glance.
const EVENTS_MAX: i64 = 100_000;
/// Failure groups shown; `ordem effects groups` has them all.
const GROUPS_MAX: i64 = 10;

/// Show what waits in the inbox and for each destination, the last hour, cursors and switches
///
/// Whether a source or destination is on is told by the variables of this very environment; a daemon may have others.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// How everything stands.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    /// The instant of the answer.
    at: Timestamp,
    /// Version of the database's schema.
    schema_version: i32,
    inbox: Inbox,
    recent: Recent,
    sources: Vec<Source>,
    destinations: Vec<Destination>,
    /// What effects failed with, the largest groups.
    failures: Vec<FailureGroup>,
    /// What waits for a provider's word, for each source that has any.
    lookups: Vec<Lookups>,
    /// Samples of refused requests of the last hour.
    refused: Vec<RecentRefusal>,
}

/// What waits in the inbox, and what needs a look.
#[derive(Debug, Serialize)]
struct Inbox {
    /// All that waits.
    pending: i64,
    /// Those that failed before and wait for another attempt.
    retrying: i64,
    /// Those of them whose time has come.
    retries_due: i64,
    /// Age of the oldest that waits; null when none does.
    oldest_seconds: Option<u64>,
    dead: i64,
    malformed: i64,
    terminal_regression: i64,
}

/// Outcomes of the newest events.
#[derive(Debug, Serialize)]
struct Recent {
    /// Events received from here on were counted.
    since: Timestamp,
    /// Whether that is all of the last hour; otherwise only the newest were counted.
    is_whole_hour: bool,
    outcomes: Vec<Outcome>,
}

#[derive(Debug, Serialize)]
struct Outcome {
    source: String,
    outcome: String,
    events: i64,
}

/// A source that is configured or has a cursor.
#[derive(Debug, Serialize)]
struct Source {
    source: String,
    state: State,
    cursors: Vec<Cursor>,
}

#[derive(Debug, Serialize)]
struct Cursor {
    name: String,
    /// The provider's API is read up to here.
    value: Timestamp,
    /// How long ago that is.
    age_seconds: u64,
    updated_at: Timestamp,
}

/// Look-ups of a source: thin events said that something happened, and the provider has not told what.
#[derive(Debug, Serialize)]
struct Lookups {
    source: String,
    /// Resources that are or will be asked about.
    waiting: i64,
    /// Those of them whose last attempt failed.
    failing: i64,
    /// How long ago the oldest was asked for.
    oldest_seconds: u64,
}

/// A destination that is configured or has effects.
#[derive(Debug, Serialize)]
struct Destination {
    destination: String,
    state: State,
    paused_at: Option<Timestamp>,
    paused_reason: Option<String>,
    pending: i64,
    due: i64,
    leased: i64,
    retrying: i64,
    /// Age of the oldest that waits; null when none does.
    oldest_seconds: Option<u64>,
    dead: i64,
}

/// Whether something is switched on in this environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    On,
    Off,
    NotConfigured,
}

impl State {
    fn of(is_on: bool, is_configured: bool) -> Self {
        match (is_on, is_configured) {
            (true, _) => Self::On,
            (false, true) => Self::Off,
            (false, false) => Self::NotConfigured,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::NotConfigured => "not configured",
        }
    }
}

impl Lookups {
    fn of(backlog: LookupBacklog, now: Timestamp) -> Self {
        let LookupBacklog { source, lookups: waiting, failing, oldest } = backlog;
        Self { source, waiting, failing, oldest_seconds: seconds_between(oldest, now) }
    }
}

impl Args {
    /// Asks.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Status> {
        let session = Session::prepare(dir)?;
        let (client, now) = (session.client().await?, session.now);
        let hour_ago = now.checked_sub(SignedDuration::from_hours(1)).unwrap_or(Timestamp::UNIX_EPOCH);
        let backlog = operations::inbox_backlog(&client, now).await?;
        let trouble = operations::trouble(&client).await?;
        let outcomes = operations::recent_outcomes(&client, first_id(hour_ago), EVENTS_MAX).await?;
        let destinations = operations::destination_backlogs(&client, now).await?;
        let failures = operations::failure_groups(&client, Uuid::nil(), None, GROUPS_MAX).await?;
        let cursors = operations::cursors(&client).await?;
        let lookups = lookups::backlog(&client).await?;
        let refused = operations::recent_refusals(&client, first_id(hour_ago)).await?;
        let in_trouble = |outcome: &str| {
            trouble.iter().find(|counted| counted.outcome == outcome).map_or(0, |counted| counted.events)
        };
        let inbox = Inbox {
            pending: backlog.queued + backlog.retrying,
            retrying: backlog.retrying,
            retries_due: backlog.retries_due,
            oldest_seconds: backlog.oldest_at.map(|at| seconds_between(at, now)),
            dead: in_trouble("dead"),
            malformed: in_trouble("malformed"),
            terminal_regression: in_trouble("terminal_regression"),
        };
        Ok(Status {
            at: now,
            schema_version: db::newest_version(),
            inbox,
            recent: recent(outcomes, hour_ago),
            sources: sources(&session.configured, cursors, now),
            destinations: all_destinations(&session.configured, destinations, now),
            failures,
            lookups: lookups.into_iter().map(|backlog| Lookups::of(backlog, now)).collect(),
            refused,
        })
    }
}

fn recent(counted: Vec<operations::RecentOutcome>, hour_ago: Timestamp) -> Recent {
    let is_whole_hour = counted.iter().map(|outcome| outcome.events).sum::<i64>() < EVENTS_MAX;
    let first = counted.iter().map(|outcome| outcome.first_received_at).min();
    let since = first.filter(|_| !is_whole_hour).unwrap_or(hour_ago);
    let outcomes = counted
        .into_iter()
        .map(|operations::RecentOutcome { source, outcome, events, .. }| Outcome { source, outcome, events })
        .collect();
    Recent { since, is_whole_hour, outcomes }
}

fn sources(configured: &Configured, cursors: Vec<operations::Cursor>, now: Timestamp) -> Vec<Source> {
    let mut names: BTreeSet<String> = configured.settings.sources.keys().cloned().collect();
    names.extend(cursors.iter().map(|cursor| cursor.source.clone()));
    let source = |name: String| {
        let of_source = cursors.iter().filter(|cursor| cursor.source == name).map(|cursor| Cursor {
            name: cursor.name.clone(),
            value: cursor.value,
            age_seconds: seconds_between(cursor.value, now),
            updated_at: cursor.updated_at,
        });
        let is_configured = configured.settings.sources.contains_key(&name);
        let state = State::of(configured.sources.contains_key(&name), is_configured);
        Source { cursors: of_source.collect(), source: name, state }
    };
    names.into_iter().map(source).collect()
}

fn all_destinations(
    configured: &Configured,
    backlogs: Vec<DestinationBacklog>,
    now: Timestamp,
) -> Vec<Destination> {
    let mut names: BTreeSet<String> = configured.settings.destinations.keys().cloned().collect();
    names.extend(backlogs.iter().map(|backlog| backlog.destination.clone()));
    let destination = |name: String| {
        let waits = backlogs.iter().find(|backlog| backlog.destination == name).cloned().unwrap_or_default();
        let is_configured = configured.settings.destinations.contains_key(&name);
        Destination {
            state: State::of(configured.destinations.contains_key(&name), is_configured),
            destination: name,
            paused_at: waits.paused_at,
            paused_reason: waits.paused_reason,
            pending: waits.pending,
            due: waits.due,
            leased: waits.leased,
            retrying: waits.retrying,
            oldest_seconds: waits.oldest_at.map(|at| seconds_between(at, now)),
            dead: waits.dead,
        }
    };
    names.into_iter().map(destination).collect()
}
