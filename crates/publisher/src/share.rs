//! This publisher's share of a destination's own limits, where several publishers serve it.
//!
//! Each publisher says every two seconds that it is there, and counts the others. A new one begins only when the others
//! must have counted it; one that is gone keeps its share for ten seconds. So the limits hold, and at times less than
//! they allow is done.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use db::{
    Pool,
    publishers::{self, Place},
};
use service::Shutdown;
use tokio::time::Instant;
use uuid::Uuid;

/// How often a publisher says that it is there.
const EVERY: Duration = Duration::from_secs(2);
/// What a publisher that begins leaves others to be seen.
const SETTLE: Duration = Duration::from_millis(250);
/// Who has not said so for this long is gone.
const EXPIRY: Duration = Duration::from_secs(10);

/// The place of one publisher at one destination.
pub(crate) struct Share {
    publisher_id: Uuid,
    state: Mutex<State>,
}

struct State {
    place: Option<Place>,
    /// Until when the others count us.
    good_until: Option<Instant>,
}

impl Share {
    /// The share of a publisher that need not heed others: all.
    pub(crate) fn whole() -> Self {
        let state = State { place: Some(Place { rank: 0, of: 1 }), good_until: None };
        Self { publisher_id: Uuid::nil(), state: Mutex::new(state) }
    }

    /// Nothing, until [`keep`] has found out about the others.
    pub(crate) fn none_yet() -> Self {
        Self { publisher_id: Uuid::new_v4(), state: Mutex::new(State { place: None, good_until: None }) }
    }

    /// How many publishers share, this one included; `None`: not known, so nothing may be begun.
    pub(crate) fn publishers(&self) -> Option<u32> {
        self.place().map(|place| place.of)
    }

    /// This publisher's part of so many; it may be none.
    pub(crate) fn part(&self, all: usize) -> usize {
        self.place().map_or(0, |place| part(all, place))
    }

    fn place(&self) -> Option<Place> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good = state.good_until.is_none_or(|until| Instant::now() < until);
        state.place.filter(|_| is_good)
    }

    fn set(&self, place: Place, good_until: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { place: Some(place), good_until: Some(good_until) };
    }
}

/// The first so many publishers take the odd ones, so that the parts make up the whole.
fn part(all: usize, place: Place) -> usize {
    let (rank, of) = (place.rank as usize, (place.of as usize).max(1));
    all / of + usize::from(rank < all % of)
}

/// Keeps a share true until the stop.
pub(crate) async fn keep(share: &Share, destination: &str, pool: &Pool, shutdown: &Shutdown) {
    let mut begun = 0;
    while !shutdown.is_triggered() {
        let said = Instant::now();
        match announce(share, destination, pool).await {
            // Two that begin at the same time may not have seen each other the first time.
            Ok(_) if begun == 0 => {
                begun = 1;
                shutdown.sleep(SETTLE).await;
                continue;
            }
            // The others count us in at their next turn.
            Ok(place) if begun == 1 && place.of > 1 => {
                begun = 2;
                shutdown.sleep(EVERY * 2).await;
                continue;
            }
            Ok(place) => {
                begun = 2;
                share.set(place, said + EXPIRY - EVERY);
            }
            Err(error) => {
                tracing::warn!(%error, destination, "not counted among the publishers, trying again")
            }
        }
        shutdown.sleep(EVERY).await;
    }
}

/// Gives the share up, so that the others need not wait for its end.
pub(crate) async fn leave(share: &Share, destination: &str, pool: &Pool) {
    let left = async { publishers::leave(&pool.get().await?, destination, share.publisher_id).await };
    if let Err(error) = left.await {
        tracing::debug!(%error, destination, "share not given up, it ends by itself");
    }
}

async fn announce(share: &Share, destination: &str, pool: &Pool) -> db::Result<Place> {
    let client = pool.get().await?;
    publishers::announce(&client, destination, share.publisher_id, EXPIRY).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_up_the_whole_and_differ_by_one_at_most() {
        for all in 0..40 {
            for of in 1..12 {
                let parts: Vec<usize> = (0..of).map(|rank| part(all, Place { rank, of })).collect();
                assert_eq!(parts.iter().sum::<usize>(), all);
                assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn a_share_that_was_not_renewed_is_none() {
        let share = Share::none_yet();
        assert_eq!((share.publishers(), share.part(8)), (None, 0));
        let place = Place { rank: 1, of: 2 };
        share.set(place, Instant::now() + EXPIRY);
        assert_eq!((share.publishers(), share.part(9)), (Some(2), 4));
        share.set(place, Instant::now());
        assert_eq!((share.publishers(), share.part(9)), (None, 0));
        assert_eq!(Share::whole().part(64), 64);
    }
}
