//! What keeps the calls of one destination back: its breaker, its rate, and this publisher's share of its limits.

use std::time::Duration;

use db::outbox::ClaimedEffect;
use service::Shutdown;
use tokio::time::Instant;

use crate::{
    Courier,
    breaker::{Allowance, Breaker, Limits},
    lease,
    pace::{InLine, Pace},
    policy::Policy,
    share::{self, Share},
};

/// All that keeps calls back.
pub(crate) struct Throttle {
    pub(crate) breaker: Breaker,
    share: Share,
    pace: Option<Pace>,
    concurrency: usize,
}

impl Throttle {
    pub(crate) fn of(policy: &Policy) -> Self {
        let breaker = Breaker::new(Limits {
            failures: policy.breaker_failures,
            concurrency: policy.concurrency,
            pause: policy.retry.base,
            pause_max: policy.breaker_pause_max,
        });
        Self {
            breaker,
            share: if policy.is_shared { Share::none_yet() } else { Share::whole() },
            pace: policy.rate.map(Pace::new),
            concurrency: policy.concurrency,
        }
    }

    /// What may be done now: by the breaker, and by this publisher's share of the destination's limits.
    pub(crate) fn allowance(&self) -> Allowance {
        let allowance = self.breaker.allowance();
        Allowance { calls: allowance.calls.min(self.share.part(self.concurrency)), ..allowance }
    }

    /// How many effects may be claimed by the destination's rate, and when to look again where it is none.
    pub(crate) fn room(&self) -> (usize, Duration) {
        match (&self.pace, self.share.publishers()) {
            (Some(pace), Some(publishers)) => (pace.room(publishers), pace.look_again(publishers)),
            _ => (usize::MAX, Duration::ZERO),
        }
    }

    /// A place in line for an effect that was claimed, where there is a line.
    pub(crate) fn stand_in_line(&self) -> Option<InLine> {
        self.pace.as_ref().map(Pace::stand_in_line)
    }

    /// Waits until the call may begin by the destination's rate. `false`: the lease was lost meanwhile.
    pub(crate) async fn turn(
        &self,
        courier: &Courier,
        effect: &ClaimedEffect,
        expires: &mut Instant,
    ) -> bool {
        let Some(pace) = &self.pace else { return true };
        lease::hold(courier, effect, expires, pace.turn(&self.share)).await.is_some()
    }
}

/// Keeps this publisher's share of a destination's limits until the stop.
pub(crate) async fn keep_share(courier: &Courier, shutdown: &Shutdown) {
    if courier.policy.is_shared {
        share::keep(&courier.throttle.share, courier.name(), courier.pool(), shutdown).await;
    }
}

/// Leaves the limits to the others.
pub(crate) async fn leave_share(courier: &Courier) {
    if courier.policy.is_shared {
        share::leave(&courier.throttle.share, courier.name(), courier.pool()).await;
    }
}
