//! Keeps a lease while something takes long.

use std::{future::Future, time::Duration};

use db::outbox::ClaimedEffect;
use tokio::time::Instant;

use crate::Courier;

/// Between two tries to renew a lease while the database is away.
const AGAIN: Duration = Duration::from_secs(1);

/// Does the work, and renews the lease when a third of it is left. `None`: the lease was lost, and the work was dropped,
/// for another publisher does it now.
pub(crate) async fn hold<F: Future>(
    courier: &Courier,
    effect: &ClaimedEffect,
    expires: &mut Instant,
    work: F,
) -> Option<F::Output> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = lost(courier, effect, expires) => {
            let (id, destination) = (effect.effect_id, courier.name());
            tracing::warn!(effect.id = %id, destination, "lease lost while the call was under way: another publisher has it");
            None
        }
    }
}

/// Ends when the lease is lost.
async fn lost(courier: &Courier, effect: &ClaimedEffect, expires: &mut Instant) {
    loop {
        tokio::time::sleep_until(*expires - courier.policy.lease / 3).await;
        match courier.renew(effect).await {
            Ok(Some(later)) => *expires = later,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(effect.id = %effect.effect_id, %error, "lease not renewed, trying again");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}
