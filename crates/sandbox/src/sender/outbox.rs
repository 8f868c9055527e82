//! Webhooks by the instant they are due.
//!
//! Each delivery is here, in flight or done, so the number of events bounds it.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::Notify;

use crate::store::Webhook;

/// One webhook on its way.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// What is sent.
    pub webhook: Webhook,
    /// Its signature.
    pub signature: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// 0 for the first sending, 1 for the duplicate.
    pub copy: u64,
    /// Whether it waits its turn; a burst does not.
    pub paced: bool,
}

impl Delivery {
    /// What tells this try from every other, for the dice.
    pub fn about(&self) -> [u64; 4] {
        let Webhook { order, sequence, .. } = self.webhook;
        [order, sequence as u64, self.copy, u64::from(self.attempt)]
    }
}

/// The queue before the receiver.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    came: Notify,
    went: Notify,
}

#[derive(Debug, Default)]
struct State {
    due: BinaryHeap<Due>,
    in_flight: usize,
}

impl Outbox {
    /// Makes a delivery due at an instant; `order` decides between those of one instant.
    pub fn put(&self, at: Instant, order: u64, delivery: Delivery) {
        self.lock().due.push(Due { at, order, delivery });
        self.came.notify_one();
    }

    /// The next delivery, as soon as it is due; it counts as in flight until [`Outbox::done`].
    ///
    /// Cancel safe: a delivery is taken only when it is returned.
    pub async fn next(&self) -> Delivery {
        loop {
            let wake_at = {
                let mut state = self.lock();
                match state.due.peek().map(|due| due.at) {
                    Some(at) if at <= Instant::now() => {
                        if let Some(due) = state.due.pop() {
                            state.in_flight += 1;
                            return due.delivery;
                        }
                        None
                    }
                    at => at,
                }
            };
            match wake_at {
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at.into()) => {}
                    () = self.came.notified() => {}
                },
                None => self.came.notified().await,
            }
        }
    }

    /// A delivery that was in flight is over, or was put back.
    pub fn done(&self) {
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        drop(state);
        self.went.notify_one();
    }

    /// How many deliveries wait or are in flight.
    pub fn len(&self) -> usize {
        let state = self.lock();
        state.due.len() + state.in_flight
    }

    /// Whether nothing waits and nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until fewer than `limit` deliveries are here. For one caller at a time.
    pub async fn room(&self, limit: usize) {
        while self.len() >= limit {
            self.went.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A delivery in the heap, earliest first.
#[derive(Debug)]
struct Due {
    at: Instant,
    order: u64,
    delivery: Delivery,
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}
