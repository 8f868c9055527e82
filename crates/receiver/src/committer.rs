//! Group commit: all requests that came while the last statement was in flight share the next one.
//!
//! There is no timer: under little load a group is one request and the answer takes one commit; under much load
//! groups grow by themselves.

use std::{collections::HashMap, time::Duration};

use db::{
    Options,
    inbox::{Duplicate, NewEvent, Origin, STORE, store_with},
};
use metrics::{Gauge, Histogram, gauge, histogram};
use service::metrics as names;
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use crate::{
    hint::Hint,
    pending::{Event, Pending, Queue, Stored},
    sources::Counters,
};

const RECONNECT_FIRST: Duration = Duration::from_millis(50);
const RECONNECT_MAX: Duration = Duration::from_secs(2);

/// Stores what the queue brings, on a connection of its own.
pub(crate) struct Committer {
    queue: Queue,
    options: Options,
    hint: Hint,
    events_max: usize,
    connection: Option<Connection>,
    batch_events: Histogram,
    commit_seconds: Histogram,
    queued: Gauge,
}

struct Connection {
    client: Client,
    store: Statement,
}

/// One event with what it shares with the others of its request.
struct Line<'a> {
    request: &'a Pending,
    event: &'a Event,
}

impl Committer {
    pub(crate) fn new(queue: Queue, options: Options, hint: Hint, events_max: usize) -> Self {
        Self {
            queue,
            options,
            hint,
            events_max,
            connection: None,
            batch_events: histogram!(names::RECEIVER_BATCH),
            commit_seconds: histogram!(names::RECEIVER_COMMIT_SECONDS),
            queued: gauge!(names::RECEIVER_QUEUED),
        }
    }

    /// Runs until the worker ends.
    pub(crate) async fn run(mut self) {
        self.connect_ahead().await;
        loop {
            let requests = self.queue.take(self.events_max).await;
            self.queued.set(self.queue.len() as f64);
            self.commit(requests).await;
        }
    }

    /// Opens the connection before the first request needs it.
    async fn connect_ahead(&mut self) {
        if let Err(error) = self.connected().await {
            tracing::warn!(%error, "the receiver cannot store yet");
        }
    }

    async fn commit(&mut self, requests: Vec<Pending>) {
        let lines = distinct_lines(&requests);
        let began = Instant::now();
        let stored = self.store(&lines).await;
        self.commit_seconds.record(began.elapsed().as_secs_f64());
        self.batch_events.record(lines.len() as f64);
        let answer = match &stored {
            Ok(duplicates) => {
                count(&requests, &lines, duplicates);
                self.hint.give();
                Stored::Committed
            }
            Err(error) => {
                tracing::warn!(%error, requests = requests.len(), "events not stored, their senders must try again");
                Stored::Unavailable
            }
        };
        for request in requests {
            let _waiter_may_be_gone = request.stored.send(answer);
        }
        if stored.is_err() {
            // The database gets a moment; new requests wait in the bounded queue meanwhile.
            tokio::time::sleep(RECONNECT_FIRST).await;
        }
    }

    /// One statement, one commit; a deadlock is tried once more, a refused row is looked for in halves.
    async fn store(&mut self, lines: &[Line<'_>]) -> db::Result<Vec<Duplicate>> {
        match self.store_once(lines).await {
            Err(db::Error::Retry(error)) => {
                tracing::debug!(%error, "storing again");
                self.store_once(lines).await
            }
            Err(db::Error::Refused(error)) if lines.len() > 1 => {
                tracing::warn!(%error, events = lines.len(), "a group was refused, storing its halves");
                let (left, right) = lines.split_at(lines.len() / 2);
                let mut duplicates = Box::pin(self.store(left)).await?;
                duplicates.extend(Box::pin(self.store(right)).await?);
                Ok(duplicates)
            }
            other => other,
        }
    }

    async fn store_once(&mut self, lines: &[Line<'_>]) -> db::Result<Vec<Duplicate>> {
        let bound = self.options.statement_timeout;
        let connection = self.connected().await?;
        let events: Vec<NewEvent<'_>> = lines.iter().map(new_event).collect();
        let answer = timeout(bound, store_with(&connection.client, &connection.store, &events)).await;
        let stored = answer.unwrap_or_else(|_| Err(db::Error::Unavailable("no answer in time".to_owned())));
        if stored.as_ref().is_err_and(db::Error::is_unavailable) {
            self.connection = None;
        }
        stored
    }

    async fn connected(&mut self) -> db::Result<&Connection> {
        if self.connection.as_ref().is_none_or(|connection| connection.client.is_closed()) {
            self.connection = None;
            self.connection = Some(connect(&self.options).await?);
        }
        self.connection.as_ref().ok_or_else(|| db::Error::Unavailable("not connected".to_owned()))
    }
}

async fn connect(options: &Options) -> db::Result<Connection> {
    let dialling = async {
        let client = db::connect(options).await?;
        let store = client.prepare(STORE).await.map_err(db::Error::from)?;
        Ok(Connection { client, store })
    };
    timeout(options.acquire_timeout.min(RECONNECT_MAX), dialling)
        .await
        .unwrap_or_else(|_| Err(db::Error::Unavailable("no connection in time".to_owned())))
}

/// The events sorted by (source, key), the same in every process, so that two groups with common keys never wait
/// for each other crosswise; each key once: its other deliveries are answered by the same commit.
fn distinct_lines(requests: &[Pending]) -> Vec<Line<'_>> {
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

fn new_event<'a>(line: &Line<'a>) -> NewEvent<'a> {
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

fn count(requests: &[Pending], lines: &[Line<'_>], duplicates: &[Duplicate]) {
    for request in requests {
        request.source.counters.stored_answers.increment(1);
    }
    let known: HashMap<Uuid, Option<bool>> =
        duplicates.iter().map(|duplicate| (duplicate.event_id, duplicate.body_differs)).collect();
    for line in lines {
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
