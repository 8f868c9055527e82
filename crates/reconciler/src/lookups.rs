//! Single look-ups: what events wait for, because they do not tell enough by themselves.
//!
//! Every process serves every source: a look-up is claimed under a lease, the provider is asked outside of any
//! transaction, and the answer goes back to the events that wait in one statement. None is ever given up: what cannot be
//! read is asked for again, at growing distances, and shows as the `last_error` of its events.

use std::{sync::Arc, time::Duration};

use db::{
    Channel, Listener, Options,
    lookups::{self, Answered, ClaimedLookup},
};
use domain::Retry;
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use profile::{Fetch, Origin, Reading, Stored};

use crate::{Failure, backoff::about, provider::Looked, source::SourceReader, trouble::Trouble};

const POLL: Duration = Duration::from_secs(1);
const DATABASE_PAUSE: Duration = Duration::from_secs(2);
/// The waits between two reads of one thing.
const AGAIN: Retry =
    Retry { base: Duration::from_secs(1), cap: Duration::from_secs(30), attempts_max: u32::MAX };
/// Between two reads that an operator has to make possible.
const LASTING: Duration = Duration::from_secs(60);
/// Added to the longest call: what storing the answer may take.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// How a read ended.
#[derive(Debug)]
enum Read {
    /// The events get this answer.
    Body(Vec<u8>),
    /// There is nothing, for this reason.
    Nothing(String),
    /// It is asked for again after this long, for this reason.
    Again(Duration, String),
    /// The provider wants to be left alone.
    Throttled(Duration),
}

/// Serves the look-ups of one source until the stop.
pub(crate) async fn serve(reader: Arc<SourceReader>, database: Options) {
    let shutdown = reader.parts.shutdown.clone();
    let mut listener = Listener::start(database, Channel::Lookups);
    while !shutdown.is_triggered() {
        let pause = match reader.serve_once().await {
            Ok(Served { lookups: 0, pause: None }) => {
                let _stopped = shutdown.unless_triggered(listener.wait(POLL)).await;
                continue;
            }
            Ok(Served { pause: None, .. }) => continue,
            Ok(Served { pause: Some(asked), .. }) => asked,
            Err(error) => {
                tracing::warn!(source = reader.name(), %error, "no look-up served");
                DATABASE_PAUSE
            }
        };
        shutdown.sleep(pause).await;
    }
}

/// What one turn did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Look-ups that were read.
    pub lookups: usize,
    /// How long the provider wants to be left alone.
    pub pause: Option<Duration>,
}

impl SourceReader {
    /// Claims the look-ups that are due, asks for each once, and stores what came.
    ///
    /// # Errors
    /// When the database is away: what was claimed is due again once its lease ends.
    pub async fn serve_once(&self) -> db::Result<Served> {
        // A lease would end while the call waits for its turn.
        let wait = self.provider.pace.wait();
        if !wait.is_zero() {
            return Ok(Served { lookups: 0, pause: Some(wait) });
        }
        let settings = self.settings();
        let lease = settings.request_timeout.get() + LEASE_MARGIN;
        let limit = i64::try_from(settings.lookup_concurrency).unwrap_or(i64::MAX);
        let now = self.now();
        let claimed = {
            let client = self.parts.pool.get().await?;
            lookups::claim(&client, &self.name, now, later(now, lease), limit).await?
        };
        let reads = join_all(claimed.iter().map(|lookup| self.read(lookup))).await;
        let mut served = Served { lookups: claimed.len(), pause: None };
        for (lookup, read) in claimed.iter().zip(reads) {
            if let Read::Throttled(asked) = read {
                served.pause = served.pause.max(Some(asked));
            }
            self.end(lookup, read).await?;
        }
        Ok(served)
    }

    async fn read(&self, lookup: &ClaimedLookup) -> Read {
        let Some(fetch) = self.profile.fetch(&lookup.fetch) else {
            let reason = format!("the profile has no [fetch.{}]", lookup.fetch);
            return Read::Again(LASTING, reason);
        };
        let path = fetch.path_of(&lookup.resource_id, &self.provider.constants);
        let age = self.now().duration_since(lookup.asked_at);
        let asked = self.provider.look_up(&self.api, &path, &fetch.missing, &self.parts.clock);
        // The stop does not wait for a provider: another process asks again.
        let Some(looked) = self.parts.shutdown.unless_triggered(asked).await else {
            return Read::Again(Duration::ZERO, "the reader was stopped".to_owned());
        };
        match looked {
            Ok(Looked::Body(body)) => match self.below_expected(lookup, fetch, &body) {
                Some(reason) if age < signed(fetch.settle) => Read::Again(wait(lookup), reason),
                _ => Read::Body(body),
            },
            Ok(Looked::Missing(status)) => {
                let reason = format!("{path} was answered with status {status}: there is no such thing");
                if age < signed(fetch.missing_for) {
                    Read::Again(wait(lookup), reason)
                } else {
                    Read::Nothing(reason)
                }
            }
            Err(Trouble::Throttled(asked)) => {
                Read::Throttled(asked.clamp(POLL, self.settings().retry_after_max.get().max(POLL)))
            }
            Err(Trouble::Transient(failure)) => Read::Again(wait(lookup), failure.to_string()),
            Err(Trouble::Lasting(failure)) => Read::Again(about(LASTING), said(&failure)),
        }
    }

    /// Why the answer is older than what an event told of, if it is.
    fn below_expected(&self, lookup: &ClaimedLookup, fetch: &Fetch, body: &[u8]) -> Option<String> {
        if lookup.expected.is_empty() {
            return None;
        }
        let flow_of = |kind: &str| self.parts.configured.flow(kind);
        let stored = Stored {
            source: &self.name,
            origin: Origin::Reconcile,
            body: b"",
            headers: &(),
            event_type: None,
            event_key: "",
            received_at: self.now(),
        };
        let readings = self.profile.read_answer(fetch, &stored, "", body, &flow_of).ok()?;
        readings.iter().find_map(|reading| {
            let Reading::Fact { resource, fact } = reading else { return None };
            let flow = flow_of(&resource.kind)?;
            let rank = flow.rank(&fact.status)?;
            let expected = lookup.expected.iter().find(|status| flow.rank(status) > Some(rank))?;
            Some(format!("the provider still says \"{}\", an event tells of \"{expected}\"", fact.status))
        })
    }

    async fn end(&self, lookup: &ClaimedLookup, read: Read) -> db::Result<()> {
        let client = self.parts.pool.get().await?;
        let now = self.now();
        let answered = match &read {
            Read::Body(body) => Answered::Body(body),
            Read::Nothing(reason) => Answered::Nothing(reason),
            Read::Again(after, reason) => return self.again(&client, lookup, *after, reason).await,
            Read::Throttled(after) => {
                let reason = format!("the provider wants to be left alone for {} s", after.as_secs());
                return self.again(&client, lookup, *after, &reason).await;
            }
        };
        match lookups::answer(&client, lookup, now, answered).await? {
            Some(events) => {
                tracing::debug!(source = self.name, lookup.id = %lookup.lookup_id, events, "looked up");
                // A hint: without it the appliers find the events at their next poll.
                if let Err(error) = Channel::Inbox.notify(&client).await {
                    tracing::debug!(source = self.name, %error, "hint to the appliers lost");
                }
            }
            None => tracing::info!(source = self.name, lookup.id = %lookup.lookup_id, "the lease was lost"),
        }
        Ok(())
    }

    async fn again(
        &self,
        client: &db::Client,
        lookup: &ClaimedLookup,
        after: Duration,
        reason: &str,
    ) -> db::Result<()> {
        let (source, attempts) = (&self.name, lookup.attempts);
        tracing::debug!(source, lookup.id = %lookup.lookup_id, attempts, reason, "asked for again later");
        lookups::ask_again(client, lookup, later(self.now(), after), reason).await?;
        Ok(())
    }
}

/// The wait before the next read: about the upper bound of the schedule, since events wait for it.
fn wait(lookup: &ClaimedLookup) -> Duration {
    let attempts = u32::try_from(lookup.attempts).unwrap_or(u32::MAX).max(1);
    match AGAIN.after(attempts, 1.0, None) {
        domain::Verdict::Again(wait) => about(wait),
        domain::Verdict::Dead => AGAIN.cap,
    }
}

/// A failure as the events' `last_error` tells it: no NUL, not long.
fn said(failure: &Failure) -> String {
    failure.to_string().replace('\0', "").chars().take(500).collect()
}

fn signed(span: Duration) -> SignedDuration {
    SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX)
}

fn later(now: Timestamp, after: Duration) -> Timestamp {
    now.checked_add(signed(after)).unwrap_or(Timestamp::MAX)
}
