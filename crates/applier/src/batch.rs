//! One batch, one transaction: claim, lock and load, decide, write, commit.

use std::{collections::HashSet, sync::Arc, time::Duration};

use db::{
    Client,
    inbox::{self, Claimed, EventOutcome, EventVerdict, Failed},
    outbox, resources,
};
use domain::{Clock, ResourceId, Retry, Verdict};
use futures_util::future::{join, join3};
use jiff::{SignedDuration, Timestamp};
use metrics::{counter, histogram};
use service::{metrics as names, settings::Configured};
use uuid::Uuid;

use crate::{
    decided::{AfterFailure, Decided, Read, decide_all, resources as resources_of},
    reading::read,
};

/// Which events a transaction takes.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// Queued events above a mark.
    Queued { mark: Uuid, limit: i64 },
    /// Events whose next attempt is due.
    Retries { limit: i64 },
    /// Just these, wherever they wait.
    These(Vec<Uuid>),
}

/// What to do about a resource that another session holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Wait for it, but not long: another applier holds it for one transaction.
    Wait,
    /// Let its events wait for their turn and apply the others: whoever holds it may be stuck.
    Skip,
}

/// Begins a transaction. Nothing in it waits for a lock longer than this.
const BEGIN: &str = "begin; set local lock_timeout = '500ms'";
/// When events of a resource that is held have their next turn.
const HELD_PAUSE: Duration = Duration::from_secs(1);

/// What all transactions share.
pub(crate) struct Applying {
    pub(crate) configured: Arc<Configured>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) retry: Retry,
}

/// A transaction that failed, with the events it had claimed: they are back where they were.
#[derive(Debug)]
pub(crate) struct Undone {
    pub(crate) event_ids: Vec<Uuid>,
    pub(crate) error: db::Error,
}

impl From<db::Error> for Undone {
    fn from(error: db::Error) -> Self {
        Self { event_ids: Vec::new(), error }
    }
}

impl Applying {
    /// Takes events and applies them in one transaction; returns the ids taken.
    pub(crate) async fn transact(
        &self,
        client: &Client,
        wanted: &Wanted,
        locks: Locks,
    ) -> Result<Vec<Uuid>, Undone> {
        let began = self.clock.now();
        let (begun, claimed) = join(client.batch_execute(BEGIN), self.claim(client, wanted, began)).await;
        begun.map_err(db::Error::from)?;
        let claimed = match claimed {
            Ok(claimed) => claimed,
            Err(error) => return Err(self.undo(client, Vec::new(), error).await),
        };
        if claimed.is_empty() {
            client.batch_execute("commit").await.map_err(db::Error::from)?;
            return Ok(Vec::new());
        }
        let event_ids: Vec<Uuid> = claimed.iter().map(|event| event.event_id).collect();
        let arrivals: Vec<_> = claimed.iter().map(|event| (event.origin, event.received_at)).collect();
        let sources: Vec<String> = claimed.iter().map(|event| event.source.clone()).collect();
        match self.apply(client, claimed, locks).await {
            Ok(decided) => {
                self.count(&event_ids, &sources, &arrivals, &decided, began);
                Ok(event_ids)
            }
            Err(error) => Err(self.undo(client, event_ids, error).await),
        }
    }

    async fn claim(&self, client: &Client, wanted: &Wanted, now: Timestamp) -> db::Result<Vec<Claimed>> {
        match wanted {
            Wanted::Queued { mark, limit } => inbox::claim(client, *mark, *limit).await,
            Wanted::Retries { limit } => inbox::claim_due_retries(client, now, *limit).await,
            Wanted::These(event_ids) => inbox::claim_these(client, event_ids).await,
        }
    }

    /// Everything between the claim and the commit, both excluded from undoing here.
    async fn apply(&self, client: &Client, claimed: Vec<Claimed>, locks: Locks) -> db::Result<Decided> {
        let events: Vec<Read> = claimed
            .into_iter()
            .map(|event| Read { reading: read(&self.configured, &event), event })
            .collect();
        let wanted = resources_of(&events);
        let (rows, held) = match (wanted.is_empty(), locks) {
            (true, _) => Default::default(),
            (false, Locks::Wait) => (resources::load_locked(client, &wanted).await?, Default::default()),
            (false, Locks::Skip) => resources::load_lockable(client, &wanted).await?,
        };
        // After the locks are held, so that a later holder's writes carry a later time.
        let now = self.clock.now();
        let events = self.let_wait(client, now, events, &held).await?;
        let mut decided = decide_all(events, rows, |kind| self.configured.flow(kind));
        self.end_failures(client, now, &mut decided).await?;
        self.write(client, now, &decided).await?;
        client.batch_execute("commit").await?;
        Ok(decided)
    }

    /// Takes out the events of resources that another session holds: their turn comes later, and costs no attempt.
    async fn let_wait(
        &self,
        client: &Client,
        now: Timestamp,
        events: Vec<Read>,
        held: &HashSet<ResourceId>,
    ) -> db::Result<Vec<Read>> {
        let (waiting, ours): (Vec<_>, Vec<_>) = events.into_iter().partition(|read| read.is_about(held));
        for Read { event, .. } in &waiting {
            let error = "another session holds the resource".to_owned();
            let due_at = later(now, HELD_PAUSE);
            inbox::postpone(
                client,
                &Failed { event_id: event.event_id, attempts: event.attempts, due_at, error },
            )
            .await?;
        }
        if !waiting.is_empty() {
            tracing::warn!(
                events = waiting.len(),
                "another session holds the resources of some events: they wait"
            );
        }
        Ok(ours)
    }

    async fn write(&self, client: &Client, now: Timestamp, decided: &Decided) -> db::Result<()> {
        let (rows, effects) = (decided.rows(), decided.effects(now));
        let saving =
            async { if rows.is_empty() { Ok(()) } else { resources::save(client, now, &rows).await } };
        let writing =
            async { if effects.is_empty() { Ok(0) } else { outbox::write(client, now, &effects).await } };
        let recording = async {
            if decided.outcomes.is_empty() {
                Ok(())
            } else {
                inbox::record_outcomes(client, now, &decided.outcomes).await
            }
        };
        let (saved, written, recorded) = join3(saving, writing, recording).await;
        saved?;
        written?;
        recorded?;
        for effect in &effects {
            let (name, destination) = (effect.effect.name.clone(), effect.effect.destination.clone());
            counter!(names::EFFECTS_WRITTEN, "effect" => name, "destination" => destination).increment(1);
        }
        Ok(())
    }

    /// Attempts that failed in memory: their events wait for the next one, or are dead.
    async fn end_failures(&self, client: &Client, now: Timestamp, decided: &mut Decided) -> db::Result<()> {
        for (event, error) in &decided.failed {
            match self.after_failure(event, error, now) {
                AfterFailure::Again(failed) => {
                    inbox::postpone(client, &failed).await?;
                }
                AfterFailure::Dead(outcome) => decided.outcomes.push(outcome),
            }
        }
        Ok(())
    }

    /// Ends the attempt of a single event that fails by itself; returns false when somebody else has it.
    pub(crate) async fn fail(&self, client: &Client, event_id: Uuid, error: &str) -> db::Result<bool> {
        client.batch_execute(BEGIN).await?;
        let failing = async {
            let claimed = inbox::claim_these(client, &[event_id]).await?;
            let now = self.clock.now();
            for event in &claimed {
                match self.after_failure(event, error, now) {
                    AfterFailure::Again(failed) => {
                        inbox::postpone(client, &failed).await?;
                    }
                    AfterFailure::Dead(outcome) => inbox::record_outcomes(client, now, &[outcome]).await?,
                }
                counter!(names::APPLY_FAILURES, "source" => event.source.clone()).increment(1);
            }
            client.batch_execute("commit").await?;
            Ok(!claimed.is_empty())
        };
        let failed = failing.await;
        if failed.is_err() {
            let _connection_may_be_gone = client.batch_execute("rollback").await;
        }
        failed
    }

    fn after_failure(&self, event: &Claimed, error: &str, now: Timestamp) -> AfterFailure {
        let attempts = event.attempts + 1;
        let error: String = error.chars().filter(|letter| *letter != '\0').take(1000).collect();
        let (id, source) = (event.event_id, &event.source);
        match self.retry.after(u32::try_from(attempts).unwrap_or(u32::MAX), jitter(event.event_id), None) {
            Verdict::Again(delay) => {
                let wait_ms = delay.as_millis();
                tracing::warn!(event.id = %id, source, attempts, wait_ms, error, "event failed, it is tried again");
                Failed { event_id: id, attempts, due_at: later(now, delay), error }.into()
            }
            Verdict::Dead => {
                tracing::error!(event.id = %id, source, attempts, error, "event dead: see `ordem replay`");
                AfterFailure::Dead(EventOutcome {
                    event_id: id,
                    verdict: EventVerdict::Dead,
                    reason: Some(error),
                    status_from: None,
                    status_to: None,
                    attempts,
                })
            }
        }
    }

    async fn undo(&self, client: &Client, event_ids: Vec<Uuid>, error: db::Error) -> Undone {
        if !error.is_unavailable() {
            let _connection_may_be_gone = client.batch_execute("rollback").await;
        }
        Undone { event_ids, error }
    }

    fn count(
        &self,
        event_ids: &[Uuid],
        sources: &[String],
        arrivals: &[(inbox::Origin, Timestamp)],
        decided: &Decided,
        began: Timestamp,
    ) {
        let now = self.clock.now();
        histogram!(names::APPLY_BATCH).record(event_ids.len() as f64);
        histogram!(names::APPLY_BATCH_SECONDS).record(seconds_between(began, now));
        for origin in [inbox::Origin::Webhook, inbox::Origin::Reconcile, inbox::Origin::Backfill] {
            let lag = histogram!(names::APPLY_LAG_SECONDS, "origin" => origin.as_str());
            arrivals
                .iter()
                .filter(|(of, _)| *of == origin)
                .for_each(|(_, at)| lag.record(seconds_between(*at, now)));
        }
        let source_of: std::collections::HashMap<&Uuid, &String> = event_ids.iter().zip(sources).collect();
        let mut counts: std::collections::HashMap<(&str, &'static str), u64> = Default::default();
        for outcome in &decided.outcomes {
            let source = source_of.get(&outcome.event_id).map_or("unknown", |source| source.as_str());
            *counts.entry((source, outcome.verdict.as_str())).or_default() += 1;
        }
        for ((source, outcome), count) in counts {
            counter!(names::EVENTS_OUTCOME, "source" => source.to_owned(), "outcome" => outcome)
                .increment(count);
        }
        for (event, _) in &decided.failed {
            counter!(names::APPLY_FAILURES, "source" => event.source.clone()).increment(1);
        }
        warn_of_malformed(decided);
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

impl From<Failed> for AfterFailure {
    fn from(failed: Failed) -> Self {
        Self::Again(failed)
    }
}

fn later(now: Timestamp, delay: Duration) -> Timestamp {
    SignedDuration::try_from(delay)
        .ok()
        .and_then(|delay| now.checked_add(delay).ok())
        .unwrap_or(Timestamp::MAX)
}

fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

/// Jitter in 0..1 from the random part of an id: spread over events, no generator needed.
fn jitter(event_id: Uuid) -> f64 {
    f64::from(u32::try_from(event_id.as_u128() & u128::from(u32::MAX)).unwrap_or(0)) / f64::from(u32::MAX)
}
