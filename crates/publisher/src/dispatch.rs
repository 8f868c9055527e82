//! The loop of one destination: as many calls in flight as allowed, claimed in batches.
//!
//! Notifications and the poll say that there may be something due; only a claim that comes back short says that there
//! is not. On the stop nothing new is claimed, what was claimed but not begun is given back, calls in flight end
//! and their results are written.

use std::{sync::Arc, time::Duration};

use db::{Listener, outbox::ClaimedEffect};
use service::Shutdown;
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinSet,
    time::Instant,
};

use crate::{
    Courier, Report,
    breaker::Allowance,
    mark::Mark,
    record::{DATABASE_PAUSE_MAX, keep_recording},
    throttle,
};

/// While fewer than half of the calls are free, a claim waits this long for more to end: one statement for many. So
/// it does after a claim that found nothing.
const LINGER: Duration = Duration::from_millis(5);
const DATABASE_PAUSE: Duration = Duration::from_millis(100);

/// Delivers the effects of one destination until the stop.
pub async fn run(courier: Arc<Courier>, woken: watch::Receiver<u64>, shutdown: Shutdown) {
    let (results, queue) = mpsc::channel(courier.policy.concurrency);
    let freed = Notify::new();
    let dispatch = Dispatch {
        courier: courier.clone(),
        results,
        shutdown,
        calls: JoinSet::new(),
        mark: Mark::new(),
        may_be_due: true,
        last_claim: None,
        rest: Duration::ZERO,
    };
    let sharing = dispatch.shutdown.clone();
    tokio::join!(
        dispatch.keep_calling(woken, &freed),
        keep_recording(&courier, queue, &freed),
        throttle::keep_share(&courier, &sharing),
    );
    throttle::leave_share(&courier).await;
}

/// Wakes all destinations, for each notification and at least once a `poll`, until the stop.
pub async fn keep_waking(
    mut listener: Listener,
    wake: watch::Sender<u64>,
    poll: Duration,
    shutdown: Shutdown,
) {
    while shutdown.unless_triggered(listener.wait(poll)).await.is_some() {
        wake.send_modify(|count| *count = count.wrapping_add(1));
    }
}

struct Dispatch {
    courier: Arc<Courier>,
    results: mpsc::Sender<Report>,
    shutdown: Shutdown,
    calls: JoinSet<()>,
    mark: Mark,
    may_be_due: bool,
    last_claim: Option<Instant>,
    /// How long to leave the database alone after the last claim.
    rest: Duration,
}

impl Dispatch {
    /// Ends when the stop has come and the last call has handed in its result.
    async fn keep_calling(mut self, mut woken: watch::Receiver<u64>, freed: &Notify) {
        while !self.shutdown.is_triggered() {
            let allowance = self.courier.throttle.allowance();
            let (room, look_again) = self.courier.throttle.room();
            let free = allowance.calls.saturating_sub(self.calls.len());
            let claim_at = match self.claim_at(allowance, free) {
                Some(_) if room == 0 => Some(Instant::now() + look_again),
                claim_at => claim_at,
            };
            if claim_at.is_some_and(|at| at <= Instant::now()) {
                self.claim(allowance, free.min(room)).await;
                continue;
            }
            tokio::select! {
                () = self.shutdown.triggered() => {}
                told = woken.changed() => match told {
                    Ok(()) => self.may_be_due = true,
                    // The waker ends with the stop only.
                    Err(_) => self.shutdown.triggered().await,
                },
                () = freed.notified() => self.may_be_due = true,
                Some(ended) = self.calls.join_next() => tell_panic(ended),
                () = tokio::time::sleep_until(claim_at.unwrap_or_else(Instant::now)), if claim_at.is_some() => {}
            }
        }
        while let Some(ended) = self.calls.join_next().await {
            tell_panic(ended);
        }
    }

    /// When the next claim should be made, as things stand; `None`: not before something happens.
    fn claim_at(&self, allowance: Allowance, free: usize) -> Option<Instant> {
        if !self.may_be_due || free == 0 {
            return None;
        }
        let linger = if free * 2 < allowance.calls { LINGER } else { Duration::ZERO };
        let rested = self.last_claim.map(|last| last + linger.max(self.rest));
        Some(rested.max(allowance.not_before).unwrap_or_else(Instant::now))
    }

    async fn claim(&mut self, allowance: Allowance, free: usize) {
        let (start, now, begun) = (self.mark.start(), self.courier.now(), Instant::now());
        self.may_be_due = false;
        match self.courier.claim(start, free).await {
            Ok(leased) => {
                // Notifications may be for others: many of them make few claims that find nothing.
                self.rest = if leased.claim.effects.is_empty() { LINGER } else { Duration::ZERO };
                self.mark.claimed(start, &leased.claim, now, begun.elapsed());
                self.may_be_due = leased.claim.more;
                if self.shutdown.is_triggered() {
                    self.courier.give_back(&leased.claim.effects).await;
                } else {
                    leased
                        .claim
                        .effects
                        .into_iter()
                        .for_each(|effect| self.call(effect, leased.expires, allowance.probe));
                }
            }
            Err(error) => {
                tracing::warn!(%error, destination = self.courier.name(), "nothing claimed, trying again");
                self.may_be_due = true;
                self.rest = (self.rest * 2).clamp(DATABASE_PAUSE, DATABASE_PAUSE_MAX);
            }
        }
        self.last_claim = Some(Instant::now());
    }

    fn call(&mut self, effect: ClaimedEffect, mut expires: Instant, probe: bool) {
        let (courier, results) = (self.courier.clone(), self.results.clone());
        let shutdown = self.shutdown.clone();
        let in_line = courier.throttle.stand_in_line();
        self.calls.spawn(async move {
            let turn = courier.throttle.turn(&courier, &effect, &mut expires);
            let has_turn = shutdown.unless_triggered(turn).await;
            drop(in_line);
            let report = match has_turn {
                Some(true) => courier.deliver(&effect, expires, probe).await,
                _ => None,
            };
            match report {
                // The recorder lives as long as there are senders.
                Some(report) => drop(results.send(report).await),
                None => courier.give_back(&[effect]).await,
            }
        });
    }
}

/// A call that panicked leaves its lease behind; the effect is tried again when that ends.
fn tell_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a call panicked, its effect is tried again after its lease");
    }
}
