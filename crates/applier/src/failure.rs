//! What follows when an event cannot be applied now: a later turn, or the end.

use std::{collections::HashSet, time::Duration};

use db::{
    Client,
    inbox::{self, Claimed, EventOutcome, EventVerdict, Failed},
    lookups,
};
use domain::{ResourceId, Verdict};
use jiff::{SignedDuration, Timestamp};
use metrics::counter;
use service::metrics as names;
use uuid::Uuid;

use crate::{
    batch::{Applying, BEGIN},
    decided::{Decided, Read},
};

/// When events of a resource that is held have their next turn.
const HELD_PAUSE: Duration = Duration::from_secs(1);
/// Most of an error's text that is kept, in letters.
const ERROR_LETTERS_MAX: usize = 1000;

/// What follows a failed attempt.
enum AfterFailure {
    /// Another one later.
    Again(Failed),
    /// None: it was the last.
    Dead(EventOutcome),
}

impl Applying {
    /// Takes out the events of resources that another session holds: their turn comes later, and costs no attempt.
    pub(crate) async fn let_wait(
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

    /// Attempts that failed in memory: their events wait for the next one, or are dead.
    pub(crate) async fn end_failures(
        &self,
        client: &Client,
        now: Timestamp,
        decided: &mut Decided,
    ) -> db::Result<()> {
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
                    AfterFailure::Dead(outcome) => {
                        inbox::record_outcomes(client, now, &[outcome]).await?;
                        lookups::forget_answers(client, &[event_id]).await?;
                    }
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
        let error: String = error.chars().filter(|letter| *letter != '\0').take(ERROR_LETTERS_MAX).collect();
        let (id, source) = (event.event_id, &event.source);
        match self.retry.after(u32::try_from(attempts).unwrap_or(u32::MAX), jitter(event.event_id), None) {
            Verdict::Again(delay) => {
                let wait_ms = delay.as_millis();
                tracing::warn!(event.id = %id, source, attempts, wait_ms, error, "event failed, it is tried again");
                AfterFailure::Again(Failed { event_id: id, attempts, due_at: later(now, delay), error })
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
}

pub(crate) fn later(now: Timestamp, delay: Duration) -> Timestamp {
    SignedDuration::try_from(delay)
        .ok()
        .and_then(|delay| now.checked_add(delay).ok())
        .unwrap_or(Timestamp::MAX)
}

/// Jitter in 0..1 from the random part of an id: spread over events, no generator needed.
fn jitter(event_id: Uuid) -> f64 {
    f64::from(u32::try_from(event_id.as_u128() & u128::from(u32::MAX)).unwrap_or(0)) / f64::from(u32::MAX)
}
