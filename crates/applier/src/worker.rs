//! The claim loop: full batches follow at once, others linger, and nothing to do waits for a hint or the poll.

use std::{sync::Arc, time::Duration};

use db::{Channel, Client, Listener, Options, Pool, inbox::ClaimLimit};
use domain::{Clock, Retry};
use service::{Context, Shutdown, settings::ApplierSettings};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    batch::{Applying, Locks, Undone, Wanted},
    direct::Direct,
    mark::Mark,
    poison,
};

const DATABASE_PAUSE_FIRST: Duration = Duration::from_millis(100);
const DATABASE_PAUSE_MAX: Duration = Duration::from_secs(5);

/// Claims and applies, batch after batch.
pub struct Worker {
    applying: Applying,
    pool: Pool,
    clock: Arc<dyn Clock>,
    settings: ApplierSettings,
    mark: Mark,
    next_retries: Instant,
}

/// What one pass over the queues did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Events that were taken and have an outcome or a later turn now.
    pub events: usize,
    /// Whether there may be more at once.
    pub more: bool,
}

impl Worker {
    /// A worker with the context's configuration.
    pub fn new(context: &Context) -> Self {
        let settings = context.configured.settings.applier.clone();
        let retry = Retry {
            base: settings.backoff_base.get(),
            cap: settings.backoff_cap.get(),
            attempts_max: settings.attempts_max,
        };
        Self {
            applying: Applying {
                configured: context.configured.clone(),
                clock: context.clock.clone(),
                retry,
                direct: Direct::of(&context.configured),
            },
            pool: context.pool.clone(),
            clock: context.clock.clone(),
            mark: Mark::new(settings.sweep.get()),
            next_retries: Instant::now(),
            settings,
        }
    }

    /// Runs until the stop; the batch in work is finished first.
    pub(crate) async fn run(mut self, database: Options, shutdown: Shutdown) {
        let mut listener = Listener::start(database, Channel::Inbox);
        let mut pause = DATABASE_PAUSE_FIRST;
        while !shutdown.is_triggered() {
            match self.pass().await {
                Ok(pass) => {
                    pause = DATABASE_PAUSE_FIRST;
                    self.rest(pass, &mut listener, &shutdown).await;
                }
                Err(error) => {
                    tracing::warn!(%error, retry_in_ms = pause.as_millis(), "nothing applied");
                    self.mark.reset();
                    shutdown.sleep(pause).await;
                    pause = (pause * 2).min(DATABASE_PAUSE_MAX);
                }
            }
        }
    }

    async fn rest(&self, pass: Pass, listener: &mut Listener, shutdown: &Shutdown) {
        if pass.more {
            return;
        }
        if pass.events > 0 {
            shutdown.sleep(self.settings.linger.get()).await;
        } else {
            let _stopped = shutdown.unless_triggered(listener.wait(self.settings.poll.get())).await;
        }
    }

    /// One batch of the queue and, now and then, one of the retries that are due.
    ///
    /// # Errors
    /// When the database is away: everything not applied is still where it was.
    pub async fn pass(&mut self) -> db::Result<Pass> {
        let client = self.pool.get().await?;
        let passed = self.pass_with(&client).await;
        if passed.is_err() {
            // Whatever state the connection is in, nobody else should inherit it.
            drop(db::Object::take(client));
        }
        passed
    }

    async fn pass_with(&mut self, client: &Client) -> db::Result<Pass> {
        let bound = |most: usize| i64::try_from(most).unwrap_or(i64::MAX);
        let limit = ClaimLimit {
            events: bound(self.settings.batch_max),
            bytes: bound(self.settings.batch_bytes_max),
        };
        let mut events = 0;
        if Instant::now() >= self.next_retries {
            events += self.transact(client, &Wanted::Retries { limit }, Locks::Skip).await?.len();
            self.next_retries = Instant::now() + self.settings.poll.get();
        }
        let (mark, sweep) = self.mark.start(self.clock.now());
        let began = Instant::now();
        let taken = self.transact(client, &Wanted::Queued { mark, limit }, Locks::Wait).await?;
        let full = taken.len() >= self.settings.batch_max;
        self.mark.claimed(taken.last().copied(), sweep, full, began.elapsed());
        Ok(Pass { events: events + taken.len(), more: full })
    }

    async fn transact(&mut self, client: &Client, wanted: &Wanted, locks: Locks) -> db::Result<Vec<Uuid>> {
        let mut done = self.applying.transact(client, wanted, locks).await;
        if let Err(undone) = &done
            && undone.error.is_lock_timeout()
            && !undone.event_ids.is_empty()
        {
            let these = Wanted::These(undone.event_ids.clone());
            done = self.applying.transact(client, &these, Locks::Skip).await;
        }
        match done {
            Ok(taken) => Ok(taken),
            Err(Undone { error, event_ids }) if error.is_unavailable() || event_ids.is_empty() => Err(error),
            Err(undone) => {
                let taken = undone.event_ids.clone();
                poison::isolate(&self.applying, client, undone).await?;
                self.mark.reset();
                Ok(taken)
            }
        }
    }
}
