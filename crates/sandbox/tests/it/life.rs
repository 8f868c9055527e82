//! Lives by the seed, whatever else happens.

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;
use sandbox::{
    dice::Dice,
    store::{Store, Webhook, order::Names},
};

fn at() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn store(seed: u64) -> Store {
    Store::new(Dice::new(seed), Names::default(), 0.02)
}

fn told(webhooks: Vec<Webhook>) -> BTreeMap<(u64, usize), Bytes> {
    let key = |webhook: Webhook| ((webhook.order, webhook.sequence), webhook.body);
    webhooks.into_iter().map(key).collect()
}

fn live(store: &Store, waves: &[u64], releases: impl Iterator<Item = u64>) -> Vec<Webhook> {
    let mut webhooks = Vec::new();
    for wave in waves {
        webhooks.extend(store.open(*wave, at()));
    }
    for number in releases {
        webhooks.extend(store.released(&store.names().order(number), at()));
    }
    webhooks
}

#[test]
fn the_same_seed_tells_the_same_whatever_the_waves_and_the_order_of_releases() {
    let (one, other) = (store(7), store(7));
    let a = live(&one, &[500], 0..500);
    let b = live(&other, &[100, 7, 393], (0..500).rev());
    assert_eq!(told(a), told(b));
    assert_eq!(one.truth().orders, other.truth().orders);
    let counts = one.counts();
    assert!(counts.never_sent > 0);
    assert_eq!(counts, other.counts());
}

#[test]
fn another_seed_tells_something_else() {
    let a = live(&store(7), &[500], 0..500);
    let b = live(&store(8), &[500], 0..500);
    assert_ne!(told(a), told(b));
}

#[test]
fn nothing_is_shipped_before_the_picking_was_released_and_nothing_twice() {
    let store = store(7);
    store.open(500, at());
    assert!(!store.by_status().contains_key("shipped"));
    let order = (0..500)
        .map(|n| store.names().order(n))
        .find(|order| store.snapshot(order).unwrap().status.as_str() == "paid")
        .unwrap();
    store.released(&order, at());
    let after = store.snapshot(&order).unwrap();
    assert!(after.sequence >= 3);
    assert!(store.released(&order, at()).is_empty());
    assert_eq!(store.snapshot(&order).unwrap(), after);
}

#[test]
fn an_event_counts_as_accepted_once() {
    let store = store(7);
    store.open(2, at());
    store.accepted(1, 1);
    store.accepted(1, 1);
    store.accepted(99, 1);
    assert_eq!(store.counts().accepted, 1);
    assert_eq!(store.truth().accepted, ["evt_00000001_1"]);
}
