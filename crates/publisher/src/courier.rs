//! The steps of one destination: claim, deliver, record. The loop around them is [`crate::dispatch`].

use std::{sync::Arc, time::Duration};

use db::{
    Options, Pool,
    outbox::{self, Attempt, Claim, ClaimRequest, ClaimedEffect, End, Finished},
};
use domain::Clock;
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use service::settings::{Destination, PublisherSettings};
use tokio::time::Instant;

use crate::{
    answer::{Answer, Meaning},
    lease,
    measures::Measures,
    policy::Policy,
    throttle::Throttle,
    transport::{self, Delivery, Surroundings, Transport},
    verdict::{self, Failure},
};

/// How much longer than its time a call is waited for: a transport that ends it by itself says why.
const TIMEOUT_GRACE: Duration = Duration::from_millis(200);

/// Carries the effects of one destination.
pub struct Courier {
    name: String,
    pub(crate) policy: Policy,
    pub(crate) throttle: Throttle,
    transport: Arc<dyn Transport>,
    pool: Pool,
    clock: Arc<dyn Clock>,
    measures: Measures,
}

/// A claim and when it ends, by a clock that nobody sets.
#[derive(Debug)]
pub struct Leased {
    /// What was claimed.
    pub claim: Claim,
    /// When others may take it.
    pub expires: Instant,
}

/// A call that was made.
#[derive(Debug, Clone)]
pub struct Report {
    /// What is to be written down.
    pub result: Finished,
    /// Number of the attempt.
    pub attempt: i32,
    /// When the effect was born.
    pub born: Timestamp,
    /// Whether the result was written together with the work itself.
    pub is_recorded: bool,
}

impl Courier {
    /// Reads the destination's address and secrets, and sets up its client.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn new(
        destination: &Destination,
        settings: &PublisherSettings,
        database: &Options,
        pool: Pool,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let policy = Policy::of(&destination.settings, settings);
        let concurrency = policy.concurrency;
        let surroundings = Surroundings { publisher: settings, database, concurrency };
        let transport = transport::of(destination, &surroundings)?;
        Ok(Self {
            name: destination.name.clone(),
            throttle: Throttle::of(&policy),
            transport,
            pool,
            clock,
            measures: Measures::of(&destination.name),
            policy,
        })
    }

    /// The destination's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The database, for what the parts of this destination write.
    pub(crate) const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Makes a lease longer. Returns when it ends now; `None`: it is lost.
    pub(crate) async fn renew(&self, effect: &ClaimedEffect) -> db::Result<Option<Instant>> {
        let expires = Instant::now() + self.policy.lease;
        let client = self.pool.get().await?;
        let is_ours =
            outbox::renew(&client, effect.effect_id, effect.lease_token, self.lease_until()).await?;
        Ok(is_ours.then_some(expires))
    }

    fn lease_until(&self) -> Timestamp {
        let lease = SignedDuration::try_from(self.policy.lease).unwrap_or(SignedDuration::MAX);
        self.now().checked_add(lease).unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Leases up to `limit` effects that were due at `due_from` or later: one statement, committed.
    ///
    /// # Errors
    /// When the database refuses or is away.
    pub async fn claim(&self, due_from: Timestamp, limit: usize) -> db::Result<Leased> {
        let expires = Instant::now() + self.policy.lease;
        let client = self.pool.get().await?;
        let now = self.now();
        let lease_until = self.lease_until();
        let limit = limit.min(self.policy.batch_max);
        let request = ClaimRequest { destination: &self.name, due_from, now, lease_until, limit };
        Ok(Leased { claim: outbox::claim(&client, request).await?, expires })
    }

    /// Calls the destination once, and renews the lease while that takes long. `None`: the lease was lost, or no call
    /// was begun because hardly anything of it was left.
    pub async fn deliver(&self, effect: &ClaimedEffect, mut expires: Instant, probe: bool) -> Option<Report> {
        let left = expires.saturating_duration_since(Instant::now());
        if left <= self.policy.lease_margin() {
            return None;
        }
        lease::hold(self, effect, &mut expires, self.attempt(effect, probe)).await
    }

    async fn attempt(&self, effect: &ClaimedEffect, probe: bool) -> Report {
        let (begun, started_at) = (Instant::now(), self.now());
        let age = started_at.duration_since(effect.created_at);
        let answer = if self.policy.is_too_old(age) {
            Answer::permanent("older than the destination's age_max: not sent any more")
        } else {
            let delivery = Delivery { effect, now: started_at, time: self.policy.request_timeout };
            let answer = self.carry(delivery).await;
            self.measures.called(answer.meaning, begun.elapsed().as_secs_f64());
            self.tell_breaker(answer.meaning, effect, probe);
            answer
        };
        let attempt = Attempt {
            started_at,
            duration_ms: i32::try_from(begun.elapsed().as_millis()).unwrap_or(i32::MAX),
            result: answer.meaning.as_str(),
            http_status: answer.status.map(i32::from),
            response_excerpt: answer.excerpt.clone(),
        };
        let is_recorded = answer.is_recorded;
        let result = Finished {
            effect_id: effect.effect_id,
            lease_token: effect.lease_token,
            lane: effect.lane,
            end: self.end(answer, effect.attempt, probe),
            attempt,
        };
        Report { result, attempt: effect.attempt, born: effect.created_at, is_recorded }
    }

    fn end(&self, answer: Answer, attempt: i32, probe: bool) -> End {
        let error = answer.error.unwrap_or_default();
        let holds_lane = self.policy.holds_after_dead;
        match answer.meaning {
            Meaning::Delivered => End::Delivered,
            Meaning::Permanent => End::Dead { error, holds_lane },
            Meaning::Transient => {
                let failure = Failure { error: &error, attempt, probe, asked: answer.asked, holds_lane };
                verdict::after_transient(failure, &self.policy.retry, self.now(), rand::random())
            }
        }
    }

    fn tell_breaker(&self, meaning: Meaning, effect: &ClaimedEffect, probe: bool) {
        match meaning {
            Meaning::Delivered | Meaning::Permanent => {
                if self.throttle.breaker.succeeded() {
                    tracing::info!(
                        destination = self.name,
                        "destination is back, all calls are allowed again"
                    );
                }
            }
            Meaning::Transient => {
                if self.throttle.breaker.failed(effect.effect_id, probe, Instant::now()) {
                    tracing::warn!(
                        destination = self.name,
                        "destination is down, one call at a time probes it"
                    );
                }
            }
        }
    }

    /// Writes results down, then counts and logs them. Returns how many effects that were held back behind these
    /// may go now.
    ///
    /// # Errors
    /// When the database refuses or is away: hand them in again.
    pub async fn record(&self, reports: &[Report]) -> db::Result<u64> {
        let (done, open): (Vec<&Report>, Vec<&Report>) =
            reports.iter().partition(|report| report.is_recorded);
        let results: Vec<Finished> = open.iter().map(|report| report.result.clone()).collect();
        let lanes: Vec<i64> = done.iter().map(|report| report.result.lane).collect();
        let client = self.pool.get().await?;
        let now = self.now();
        let mut written = outbox::finish(&client, &self.name, now, &results).await?;
        written.woken += outbox::wake_next(&client, &self.name, now, &lanes).await?;
        for report in reports {
            if report.is_recorded || written.recorded.contains(&report.result.effect_id) {
                self.measures.recorded(&self.name, report, now);
            } else {
                tracing::warn!(
                    effect.id = %report.result.effect_id,
                    destination = self.name,
                    "result dropped: its lease was lost, or it had been written before the connection broke"
                );
            }
        }
        Ok(written.woken)
    }

    /// Gives back what was claimed but not begun.
    pub async fn give_back(&self, effects: &[ClaimedEffect]) {
        let given = async {
            let client = self.pool.get().await?;
            outbox::give_back(&client, self.now(), effects).await
        };
        if let Err(error) = given.await {
            tracing::warn!(%error, destination = self.name, "leases not given back, they end by themselves");
        }
    }

    /// One whole step, as the loop does it piece by piece: claims what is due, delivers it side by side, records.
    /// Returns how many effects were claimed.
    ///
    /// # Errors
    /// When the database refuses or is away.
    pub async fn round(&self) -> db::Result<usize> {
        let leased = self.claim(Timestamp::UNIX_EPOCH, self.policy.concurrency).await?;
        let effects = &leased.claim.effects;
        let calls = effects.iter().map(|effect| self.deliver(effect, leased.expires, false));
        let reports: Vec<Report> = join_all(calls).await.into_iter().flatten().collect();
        if !reports.is_empty() {
            self.record(&reports).await?;
        }
        Ok(effects.len())
    }

    /// Each transport minds the time itself where it can say more than that it ran out.
    async fn carry(&self, delivery: Delivery<'_>) -> Answer {
        let call = self.transport.carry(delivery);
        match tokio::time::timeout(delivery.time + TIMEOUT_GRACE, call).await {
            Ok(answer) => answer,
            Err(_) => Answer::transient("no answer in time"),
        }
    }
}

impl std::fmt::Debug for Courier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Courier").field("name", &self.name).finish_non_exhaustive()
    }
}
