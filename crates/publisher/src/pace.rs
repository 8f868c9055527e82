//! The rate of one destination: how many calls may begin in a length of time, over all publishers together.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    state::{InMemoryState, NotKeyed},
};
use service::settings::Rate;

use crate::share::Share;

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock>;

/// Calls that begin within this time may begin at once: timers are not exact, and what one is late by is made up for.
const BURST: Duration = Duration::from_millis(20);
/// Effects are claimed for this time ahead: longer, and others would wait for what only stands in line here.
const AHEAD: Duration = Duration::from_millis(250);

/// Lets calls begin at a rate.
pub(crate) struct Pace {
    rate: Rate,
    clock: DefaultClock,
    /// For how many publishers the limiter is made, and the limiter.
    limiter: Mutex<(u32, Arc<Limiter>)>,
    waiting: Arc<AtomicUsize>,
}

/// A place in line, counted from the claim until it is dropped.
pub(crate) struct InLine(Arc<AtomicUsize>);

impl Drop for InLine {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pace {
    pub(crate) fn new(rate: Rate) -> Self {
        let limiter = Mutex::new((1, limiter(interval(rate, 1))));
        Self { rate, clock: DefaultClock::default(), limiter, waiting: Arc::default() }
    }

    /// How many effects may be claimed now by one of so many publishers: those that could begin soon, less those that
    /// wait already.
    pub(crate) fn room(&self, publishers: u32) -> usize {
        let soon = AHEAD.as_nanos() / interval(self.rate, publishers).as_nanos().max(1);
        let soon = usize::try_from(soon).unwrap_or(usize::MAX).max(1);
        soon.saturating_sub(self.waiting.load(Ordering::Relaxed))
    }

    /// When there may be room, where there is none now.
    pub(crate) fn look_again(&self, publishers: u32) -> Duration {
        interval(self.rate, publishers).clamp(Duration::from_millis(1), AHEAD)
    }

    /// A place in line for an effect that was claimed.
    pub(crate) fn stand_in_line(&self) -> InLine {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        InLine(self.waiting.clone())
    }

    /// Waits until one more call may begin.
    pub(crate) async fn turn(&self, share: &Share) {
        loop {
            // Asked anew each time: the publishers may have become more since.
            let wait = match share.publishers().map(|publishers| self.limiter(publishers).check()) {
                Some(Ok(())) => return,
                Some(Err(not_yet)) => not_yet.wait_time_from(self.clock.now()),
                None => AHEAD,
            };
            tokio::time::sleep(wait.clamp(Duration::from_millis(1), AHEAD)).await;
        }
    }

    fn limiter(&self, publishers: u32) -> Arc<Limiter> {
        let mut current = self.limiter.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 != publishers {
            let changed = limiter(interval(self.rate, publishers));
            // The burst of the one before is spent: the change brings no other.
            while changed.check().is_ok() {}
            *current = (publishers, changed);
        }
        current.1.clone()
    }
}

/// The time between two calls of one of so many publishers.
fn interval(rate: Rate, publishers: u32) -> Duration {
    rate.interval() * publishers.max(1)
}

fn limiter(interval: Duration) -> Arc<Limiter> {
    let interval = interval.max(Duration::from_nanos(1));
    let burst = u32::try_from(BURST.as_nanos() / interval.as_nanos()).unwrap_or(u32::MAX - 1) + 1;
    let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
    let quota = Quota::with_period(interval).unwrap_or_else(|| Quota::per_second(NonZeroU32::MAX));
    Arc::new(RateLimiter::direct(quota.allow_burst(burst)))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn rate(count: u32, per_s: u64) -> Rate {
        Rate { count: NonZeroU32::new(count).unwrap(), per: Duration::from_secs(per_s) }
    }

    #[test]
    fn what_is_claimed_ahead_shrinks_with_the_publishers_and_is_never_nothing_at_first() {
        let pace = Pace::new(rate(100, 1));
        assert_eq!((pace.room(1), pace.room(5), pace.room(1000)), (25, 5, 1));
        assert_eq!(Pace::new(rate(1, 3600)).room(1), 1);
    }

    #[tokio::test]
    async fn turns_come_at_the_rate_and_those_who_wait_take_the_room() {
        let pace = Arc::new(Pace::new(rate(200, 1)));
        let begun = Instant::now();
        let share = Arc::new(Share::whole());
        let turns = (0..45).map(|_| {
            let (pace, share, in_line) = (pace.clone(), share.clone(), pace.stand_in_line());
            tokio::spawn(async move {
                pace.turn(&share).await;
                drop(in_line);
            })
        });
        let turns: Vec<_> = turns.collect();
        assert_eq!(pace.room(1), 5);
        for turn in turns {
            turn.await.unwrap();
        }
        // 45 less the five of the burst, 5 ms each.
        assert!(begun.elapsed() >= Duration::from_millis(195), "{:?}", begun.elapsed());
        assert_eq!(pace.room(1), 50, "nobody waits any more");
    }
}
