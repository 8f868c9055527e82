//! One batch, one transaction: claim, lock and load, decide, write, commit.

use std::{sync::Arc, time::Duration};

use db::{
    Channel, Client,
    inbox::{self, ClaimLimit, Claimed},
    lookups::{self, Ask},
    outbox::{self, WrittenEffects},
    resources,
};
use domain::{Clock, Retry};
use futures_util::future::{join, join3};
use jiff::Timestamp;
use metrics::counter;
use service::{metrics as names, settings::Configured};
use uuid::Uuid;

use crate::{
    decided::{Asked, Decided, Read, decide_all, resources as resources_of},
    direct::Direct,
    failure::later,
    reading::read,
    tally::{self, Arrivals},
};

/// Which events a transaction takes.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// Queued events above a mark.
    Queued { mark: Uuid, limit: ClaimLimit },
    /// Events whose next attempt is due.
    Retries { limit: ClaimLimit },
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
pub(crate) const BEGIN: &str = "begin; set local lock_timeout = '500ms'";

/// What all transactions share.
pub(crate) struct Applying {
    pub(crate) configured: Arc<Configured>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) retry: Retry,
    pub(crate) direct: Direct,
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
                let arrivals = Arrivals { event_ids: &event_ids, sources: &sources, at: &arrivals };
                tally::count(&arrivals, &decided, began, self.clock.now());
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
            .map(|event| Read { readings: read(&self.configured, &event), event })
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
        let mut decided = decide_all(
            events,
            rows,
            |kind| self.configured.flow(kind),
            |source| self.configured.profiles.get(source).is_some_and(|profile| profile.settles_ties()),
        );
        self.end_failures(client, now, &mut decided).await?;
        self.write(client, now, &decided).await?;
        client.batch_execute("commit").await?;
        Ok(decided)
    }

    async fn write(&self, client: &Client, now: Timestamp, decided: &Decided) -> db::Result<()> {
        let (rows, effects) = (decided.rows(), decided.effects(now, |name| self.direct.takes(name)));
        let saving =
            async { if rows.is_empty() { Ok(()) } else { resources::save(client, now, &rows).await } };
        let writing = async {
            if effects.is_empty() {
                Ok(WrittenEffects::default())
            } else {
                outbox::write(client, now, &effects).await
            }
        };
        let recording = async {
            if decided.outcomes.is_empty() {
                Ok(())
            } else {
                inbox::record_outcomes(client, now, &decided.outcomes).await
            }
        };
        let (saved, written, recorded) = join3(saving, writing, recording).await;
        saved?;
        let written = written?;
        recorded?;
        self.direct.hand_over(client, now, &effects, &written).await?;
        let canceled = outbox::cancel_pairs(client, now, &effects).await?;
        self.look_up(client, now, decided).await?;
        for effect in &effects {
            let (name, destination) = (effect.effect.name.clone(), effect.effect.destination.clone());
            if canceled.contains(&effect.effect_id) {
                counter!(names::EFFECTS_CANCELED, "effect" => name.clone(), "destination" => destination.clone())
                    .increment(1);
            }
            counter!(names::EFFECTS_WRITTEN, "effect" => name, "destination" => destination).increment(1);
        }
        Ok(())
    }

    /// Asks for what the events wait for, and forgets the answers of those that are done.
    async fn look_up(&self, client: &Client, now: Timestamp, decided: &Decided) -> db::Result<()> {
        if !decided.asked.is_empty() {
            let asks: Vec<Ask<'_>> = decided.asked.iter().map(|asked| self.ask(asked, now)).collect();
            lookups::ask(client, now, &asks).await?;
            Channel::Lookups.notify(client).await?;
        }
        if !decided.answered.is_empty() {
            lookups::forget_answers(client, &decided.answered).await?;
        }
        Ok(())
    }

    fn ask<'a>(&self, asked: &'a Asked, now: Timestamp) -> Ask<'a> {
        let profile = self.configured.profiles.get(&asked.source);
        let delay =
            profile.and_then(|profile| profile.fetch(&asked.fetch)).map_or(Duration::ZERO, |f| f.delay);
        Ask {
            source: &asked.source,
            fetch: &asked.fetch,
            resource_id: &asked.resource_id,
            due_at: later(now, delay),
            event_id: Some(asked.event_id),
            expect: asked.expect.as_deref(),
        }
    }

    async fn undo(&self, client: &Client, event_ids: Vec<Uuid>, error: db::Error) -> Undone {
        if !error.is_unavailable() {
            let _connection_may_be_gone = client.batch_execute("rollback").await;
        }
        Undone { event_ids, error }
    }
}
