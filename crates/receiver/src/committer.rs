//! Group commit: all requests that came while the last statement was in flight share the next one.
//!
//! There is no timer: under little load a group is one request and the answer takes one commit; under much load
//! groups grow by themselves.

use std::{collections::HashSet, time::Duration};

use db::{
    Options,
    inbox::{Duplicate, NewEvent, STORE, store_with},
};
use metrics::{Gauge, Histogram, gauge, histogram};
use service::metrics as names;
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use crate::{
    group::{Line, answers, count, distinct_lines, new_event},
    hint::Hint,
    pending::{Pending, Queue},
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

/// What became of a group of events.
#[derive(Default)]
struct Committed {
    duplicates: Vec<Duplicate>,
    /// Events that are not stored: their senders must try again.
    lost: HashSet<Uuid>,
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
        count(&lines, &stored.duplicates, &stored.lost);
        if stored.lost.len() < lines.len() {
            self.hint.give();
        }
        let answers = answers(&requests, &lines, &stored.lost);
        for (request, answer) in requests.into_iter().zip(answers) {
            let _waiter_may_be_gone = request.stored.send(answer);
        }
        if !stored.lost.is_empty() {
            // The database gets a moment; new requests wait in the bounded queue meanwhile.
            tokio::time::sleep(RECONNECT_FIRST).await;
        }
    }

    /// One statement, one commit. A deadlock is tried once more; of a group that is refused each half is tried, down
    /// to the event that is refused alone: only that one is lost to its sender.
    async fn store(&mut self, lines: &[Line<'_>]) -> Committed {
        let mut stored = self.store_once(lines).await;
        if let Err(db::Error::Retry(error)) = &stored {
            tracing::debug!(%error, "storing again");
            stored = self.store_once(lines).await;
        }
        match stored {
            Ok(duplicates) => Committed { duplicates, lost: HashSet::new() },
            Err(error) if lines.len() > 1 && !error.is_unavailable() => {
                tracing::warn!(%error, events = lines.len(), "a group was refused, storing its halves");
                let (left, right) = lines.split_at(lines.len() / 2);
                let mut committed = Box::pin(self.store(left)).await;
                let rest = Box::pin(self.store(right)).await;
                committed.duplicates.extend(rest.duplicates);
                committed.lost.extend(rest.lost);
                committed
            }
            Err(error) => {
                tracing::warn!(%error, events = lines.len(), "events not stored, their senders must try again");
                let lost = lines.iter().map(|line| line.event.event_id).collect();
                Committed { duplicates: Vec::new(), lost }
            }
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
