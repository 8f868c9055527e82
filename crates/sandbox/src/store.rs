//! The simulated store: the truth about every order, and what its API shows of it.
//!
//! It knows nothing of HTTP and of Ordem; the sender and the fulfilment system tell it what happened.

pub mod api;
pub mod life;
pub mod order;
pub mod page;
pub mod run;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    dice::Dice,
    store::{
        life::{Demand, Status},
        order::{CURRENCY, Names, Order},
        page::Position,
    },
};

/// The truth, shared by the API, the sender and the fulfilment system.
#[derive(Debug)]
pub struct Store {
    dice: Dice,
    names: Names,
    lost_share: f64,
    state: Mutex<State>,
}

/// A webhook that is due.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The order's number.
    pub order: u64,
    /// The step it tells of, from 1.
    pub sequence: usize,
    /// The raw body.
    pub body: Bytes,
}

/// One row of `GET /orders`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The order's id.
    pub id: String,
    /// Its status now.
    pub status: Status,
    /// How many steps it has made.
    pub sequence: u64,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// What the customer pays.
    pub total_cents: i64,
    /// The customer's address.
    pub customer_email: String,
}

/// What the store knows of one order at the end, for the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderTruth {
    /// What the API shows.
    pub now: Snapshot,
    /// The effects its life demands.
    pub demand: Demand,
    /// Its currency, which only webhooks tell: `None` where none was accepted.
    pub currency: Option<String>,
    /// Whether its life is over.
    pub complete: bool,
}

/// All that the store knows, for the ledger.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Truth {
    /// What all orders of this run are called.
    pub order_prefix: String,
    /// Every order.
    pub orders: Vec<OrderTruth>,
    /// Ids of the events that the receiver answered with 2xx.
    pub accepted: Vec<String>,
}

/// Counts of the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Orders placed.
    pub orders: u64,
    /// Orders whose life is over.
    pub complete: u64,
    /// Events that happened.
    pub events: u64,
    /// Events whose webhook is never sent.
    pub never_sent: u64,
    /// Distinct events that the receiver accepted.
    pub accepted: u64,
}

#[derive(Debug, Default)]
struct State {
    orders: Vec<Standing>,
    by_update: BTreeSet<Position>,
    counts: Counts,
}

/// Where an order stands.
#[derive(Debug)]
struct Standing {
    order: Order,
    sequence: usize,
    updated_at: Timestamp,
    /// One bit a step.
    accepted: u8,
}

impl Standing {
    fn complete(&self) -> bool {
        self.sequence == self.order.life.steps().len()
    }
}

impl Store {
    /// A store without orders.
    pub fn new(dice: Dice, names: Names, lost_share: f64) -> Self {
        Self { dice, names, lost_share, state: Mutex::default() }
    }

    /// How this store calls things.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Places `count` orders; each lives on until it waits for the fulfilment system.
    /// Returns the webhooks to send, without those that get lost.
    pub fn open(&self, count: u64, now: Timestamp) -> Vec<Webhook> {
        let mut state = self.lock();
        let mut webhooks = Vec::new();
        for _ in 0..count {
            let number = state.orders.len() as u64;
            let order = Order::new(self.dice, number);
            state.orders.push(Standing { order, sequence: 0, updated_at: now, accepted: 0 });
            state.counts.orders += 1;
            webhooks.extend(self.advance(&mut state, number, order.life.opening(), now));
        }
        webhooks
    }

    /// The fulfilment system was told to pick: the order's life goes on.
    /// Returns the webhooks to send; none when it had gone on before.
    pub fn released(&self, order_id: &str, now: Timestamp) -> Vec<Webhook> {
        let Some(number) = self.names.number(order_id) else {
            return Vec::new();
        };
        let mut state = self.lock();
        let Some(standing) = state.orders.get(number as usize) else {
            return Vec::new();
        };
        let end = standing.order.life.steps().len();
        self.advance(&mut state, number, end, now)
    }

    /// The receiver answered 2xx for this event.
    pub fn accepted(&self, order: u64, sequence: usize) {
        let mut state = self.lock();
        let Some(standing) = state.orders.get_mut(order as usize) else {
            return;
        };
        let bit = 1_u8 << sequence.min(7);
        if standing.accepted & bit == 0 {
            standing.accepted |= bit;
            state.counts.accepted += 1;
        }
    }

    /// What the API shows of one order.
    pub fn snapshot(&self, order_id: &str) -> Option<Snapshot> {
        let number = self.names.number(order_id)?;
        let state = self.lock();
        state.orders.get(number as usize).map(|standing| self.show(standing))
    }

    /// The next `limit` orders at or after a position, and where the page after them begins.
    pub fn page(&self, from: Position, limit: usize) -> (Vec<Snapshot>, Option<Position>) {
        let state = self.lock();
        let mut positions = state.by_update.range(from..);
        let rows = positions
            .by_ref()
            .take(limit)
            .filter_map(|at| state.orders.get(at.order as usize))
            .map(|standing| self.show(standing))
            .collect();
        (rows, positions.next().copied())
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Orders by status.
    pub fn by_status(&self) -> BTreeMap<&'static str, u64> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        for standing in &state.orders {
            let status = standing.order.status(standing.sequence);
            *counts.entry(status.as_str()).or_default() += 1;
        }
        counts
    }

    /// Everything, for the ledger.
    pub fn truth(&self) -> Truth {
        let state = self.lock();
        let orders = state.orders.iter().map(|standing| OrderTruth {
            now: self.show(standing),
            demand: standing.order.life.demand(),
            currency: (standing.accepted != 0).then(|| CURRENCY.to_owned()),
            complete: standing.complete(),
        });
        let accepted = state.orders.iter().flat_map(|standing| {
            (1..=standing.sequence)
                .filter(|sequence| standing.accepted & (1 << sequence) != 0)
                .map(|sequence| self.names.event(standing.order.number, sequence))
        });
        Truth {
            order_prefix: self.names.order_prefix(),
            orders: orders.collect(),
            accepted: accepted.collect(),
        }
    }

    fn advance(&self, state: &mut State, number: u64, until: usize, now: Timestamp) -> Vec<Webhook> {
        let State { orders, by_update, counts } = state;
        let standing = &mut orders[number as usize];
        let from = standing.sequence;
        if from >= until {
            return Vec::new();
        }
        by_update.remove(&Position::new(standing.updated_at, number));
        standing.sequence = until;
        standing.updated_at = now;
        by_update.insert(Position::new(now, number));
        counts.complete += u64::from(standing.complete());
        counts.events += (until - from) as u64;
        let webhooks = self.webhooks(&standing.order, from + 1, until, now);
        counts.never_sent += (until - from - webhooks.len()) as u64;
        webhooks
    }

    /// The webhooks of steps made in one go: each a millisecond after the one before it, the last one now.
    fn webhooks(&self, order: &Order, first: usize, last: usize, now: Timestamp) -> Vec<Webhook> {
        (first..=last)
            .filter(|sequence| !order.is_lost(*sequence, self.lost_share))
            .filter_map(|sequence| {
                let at = now - SignedDuration::from_millis((last - sequence) as i64);
                match order.webhook(&self.names, sequence, at, self.lost_share) {
                    Ok(body) => Some(Webhook { order: order.number, sequence, body }),
                    Err(error) => {
                        tracing::error!(%error, order.number, sequence, "webhook not written");
                        None
                    }
                }
            })
            .collect()
    }

    fn show(&self, standing: &Standing) -> Snapshot {
        let order = &standing.order;
        Snapshot {
            id: self.names.order(order.number),
            status: order.status(standing.sequence),
            sequence: standing.sequence as u64,
            updated_at: standing.updated_at,
            total_cents: order.total_cents(),
            customer_email: order.email(standing.sequence),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
