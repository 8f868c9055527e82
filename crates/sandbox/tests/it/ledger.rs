//! The ledger on hand-made inputs: each kind of difference is seen, and nothing else is.

use sandbox::{
    fulfillment::book::{DoneEffect, Effect},
    ledger::{
        self, Ledger,
        difference::Difference,
        table,
        views::{EffectRow, EventRow, OrderRow, Views},
    },
    sandbox::Evidence,
    store::{
        OrderTruth, Snapshot,
        life::{Life, Status},
    },
};

/// One order and all that belongs to it.
struct Scene {
    evidence: Evidence,
    views: Views,
}

impl Scene {
    /// A shipped order with which everything went right.
    fn shipped() -> Self {
        Self::of(Life::Shipped, Status::Shipped, &["release_picking"])
    }

    fn of(life: Life, status: Status, effects: &[&str]) -> Self {
        let mut scene = Self { evidence: Evidence::default(), views: Views::default() };
        scene.evidence.truth.orders.push(OrderTruth {
            now: Snapshot {
                id: "ped_1".into(),
                status,
                sequence: 3,
                updated_at: jiff::Timestamp::UNIX_EPOCH,
                total_cents: 100,
                customer_email: "a@example.com".into(),
            },
            demand: life.demand(),
            currency: Some("BRL".into()),
            complete: true,
        });
        scene.evidence.truth.accepted.push("evt_1".into());
        scene.views.orders.push(OrderRow {
            id: "ped_1".into(),
            status: status.in_ordem().into(),
            version: 3,
            total_minor: Some(100),
            currency: Some("BRL".into()),
            customer_email: Some("a@example.com".into()),
        });
        scene.event(Some("evt_1"), "webhook", Some("applied"));
        for effect in effects {
            scene.written(effect, "delivered");
            scene.received(effect, 1);
        }
        scene
    }

    fn event(&mut self, event: Option<&str>, origin: &str, outcome: Option<&str>) {
        self.views.events.push(EventRow {
            event: event.map(str::to_owned),
            origin: origin.into(),
            outcome: outcome.map(str::to_owned),
        });
    }

    fn written(&mut self, effect: &str, state: &str) {
        self.views.effects.push(EffectRow {
            order: "ped_1".into(),
            effect: effect.into(),
            state: state.into(),
        });
    }

    fn received(&mut self, effect: &str, times: u64) {
        let effect = Effect { order: "ped_1".into(), name: effect.into(), key: String::new() };
        self.evidence.done.push(DoneEffect { effect, times });
    }

    fn ledger(&self) -> Ledger {
        ledger::compare(&self.evidence, &self.views)
    }

    /// The only difference, as text.
    fn difference(&self) -> String {
        let ledger = self.ledger();
        assert_eq!(ledger.differences.len(), 1, "{:?}", ledger.differences);
        ledger.differences[0].to_string()
    }
}

#[test]
fn what_is_right_is_clean() {
    let ledger = Scene::shipped().ledger();
    assert!(ledger.is_clean());
    assert_eq!((ledger.orders, ledger.orders_equal), (1, 1));
    assert_eq!((ledger.events_accepted, ledger.effects_delivered), (1, 1));
}

#[test]
fn a_missing_order_is_seen() {
    let mut scene = Scene::shipped();
    scene.views.orders.clear();
    assert_eq!(scene.difference(), "ped_1: not in ordem.orders");
    assert_eq!(scene.ledger().orders_equal, 0);
}

#[test]
fn an_order_that_the_store_does_not_know_is_seen() {
    let mut scene = Scene::shipped();
    let mut other = scene.views.orders[0].clone();
    other.id = "ped_2".into();
    scene.views.orders.push(other);
    assert_eq!(scene.difference(), "ped_2: not an order of the store");
}

#[test]
fn a_column_that_differs_is_seen() {
    let mut scene = Scene::shipped();
    scene.views.orders[0].status = "paid".into();
    assert_eq!(scene.difference(), "ped_1: status is paid, the store has shipped");
    assert_eq!(scene.ledger().orders_equal, 0);

    let mut scene = Scene::shipped();
    scene.views.orders[0].total_minor = Some(99);
    assert_eq!(scene.difference(), "ped_1: total_minor is 99, the store has 100");

    let mut scene = Scene::shipped();
    scene.views.orders[0].customer_email = None;
    assert_eq!(scene.difference(), "ped_1: customer_email is null, the store has a@example.com");

    let mut scene = Scene::shipped();
    scene.views.orders[0].version = 2;
    assert_eq!(scene.difference(), "ped_1: version is 2, the store has 3");

    let mut scene = Scene::shipped();
    scene.views.orders[0].currency = None;
    assert_eq!(scene.difference(), "ped_1: currency is null, the store has BRL");
}

#[test]
fn a_currency_that_no_webhook_told_is_not_asked_for() {
    let mut scene = Scene::shipped();
    scene.evidence.truth.orders[0].currency = None;
    scene.views.orders[0].currency = None;
    assert!(scene.ledger().is_clean());
}

#[test]
fn an_open_order_is_called_created_in_ordem() {
    let mut scene = Scene::of(Life::Open, Status::Open, &[]);
    assert!(scene.ledger().is_clean());
    scene.views.orders[0].status = "open".into();
    assert_eq!(scene.difference(), "ped_1: status is open, the store has created");
}

#[test]
fn a_lost_a_pending_a_dead_and_a_doubled_event_are_seen() {
    let mut scene = Scene::shipped();
    scene.views.events.clear();
    assert_eq!(scene.difference(), "evt_1: accepted, not in ordem.events");
    assert_eq!(scene.ledger().events_lost, 1);
    for (outcome, text) in [(None, "pending"), (Some("dead"), "dead")] {
        scene.views.events.clear();
        scene.event(Some("evt_1"), "webhook", outcome);
        assert_eq!(scene.difference(), format!("evt_1: outcome {text}"));
        assert_eq!(scene.ledger().events_lost, 1);
    }
    let mut scene = Scene::shipped();
    scene.event(Some("evt_1"), "webhook", Some("stale"));
    assert_eq!(scene.difference(), "evt_1: more than once in ordem.events");
}

#[test]
fn a_missing_effect_is_seen_wherever_it_is_wanting() {
    let mut unwritten = Scene::shipped();
    unwritten.views.effects.clear();
    let mut dead = Scene::shipped();
    dead.views.effects[0].state = "dead".into();
    let mut unreceived = Scene::shipped();
    unreceived.evidence.done.clear();
    for (scene, reason) in [(unwritten, "not written"), (dead, "state dead"), (unreceived, "not received")] {
        let text = format!("ped_1: release_picking missing, {reason}");
        assert_eq!(scene.difference(), text);
        assert_eq!(scene.ledger().effects_missing, 1);
    }
}

#[test]
fn a_doubled_effect_is_seen_in_the_outbox_and_at_the_destination() {
    let mut written = Scene::shipped();
    written.written("release_picking", "delivered");
    let mut received = Scene::shipped();
    received.evidence.done[0].times = 2;
    for scene in [written, received] {
        assert_eq!(scene.difference(), "ped_1: release_picking doubled");
        assert_eq!(scene.ledger().effects_doubled, 1);
    }
}

#[test]
fn an_effect_that_no_rule_asks_for_is_seen() {
    for effect in ["halt_picking", "notify_refund", "send_flowers"] {
        let mut scene = Scene::shipped();
        scene.received(effect, 1);
        let text = format!("ped_1: {effect} that no rule asks for");
        assert_eq!(scene.difference(), text);
        assert_eq!(scene.ledger().effects_unexpected, 1);
    }
    let scene = Scene::of(Life::Abandoned, Status::Canceled, &["release_picking"]);
    assert_eq!(scene.difference(), "ped_1: release_picking that no rule asks for");
}

#[test]
fn a_racing_cancellation_halts_exactly_what_was_released() {
    let life = Life::CanceledRacing;
    let both = ["release_picking", "halt_picking"];
    assert!(Scene::of(life, Status::Canceled, &[]).ledger().is_clean());
    assert!(Scene::of(life, Status::Canceled, &both).ledger().is_clean());
    let released = Scene::of(life, Status::Canceled, &["release_picking"]);
    assert_eq!(released.difference(), "ped_1: halt_picking missing, not written");
    let halted = Scene::of(life, Status::Canceled, &["halt_picking"]);
    assert_eq!(halted.difference(), "ped_1: halt_picking that no rule asks for");
}

#[test]
fn a_refund_is_demanded_once() {
    let life = Life::Refunded;
    let effects = ["release_picking", "notify_refund"];
    assert!(Scene::of(life, Status::Refunded, &effects).ledger().is_clean());
    let scene = Scene::of(life, Status::Refunded, &["release_picking"]);
    assert_eq!(scene.difference(), "ped_1: notify_refund missing, not written");
}

#[test]
fn wrong_order_refused_calls_and_given_up_webhooks_are_seen() {
    let mut scene = Scene::shipped();
    scene.evidence.fulfillment.out_of_order = 2;
    assert_eq!(scene.difference(), "halt_picking arrived before release_picking 2 times");
    let mut scene = Scene::shipped();
    let refused = &mut scene.evidence.fulfillment.refused;
    refused.insert("expired".into(), 3);
    assert_eq!(scene.difference(), "fulfilment refused 3 calls: expired");
    let mut scene = Scene::shipped();
    scene.evidence.fulfillment.conflicts = 1;
    assert_eq!(scene.difference(), "fulfilment refused 1 calls: idempotency key of another effect");
    let mut scene = Scene::shipped();
    scene.evidence.sender.gave_up = 4;
    assert_eq!(scene.difference(), "the sender gave up on 4 webhooks");
}

#[test]
fn what_the_reconciler_brought_and_changed_something_is_recovered() {
    let mut scene = Scene::shipped();
    scene.event(None, "reconcile", Some("applied"));
    scene.event(None, "reconcile", Some("stale"));
    let ledger = scene.ledger();
    assert!(ledger.is_clean());
    assert_eq!(ledger.recovered, 1);
}

#[test]
fn the_table_lists_twenty_differences_and_counts_the_rest() {
    let mut ledger = Scene::shipped().ledger();
    ledger.differences = (0..25).map(|n| Difference::OrderMissing { order: format!("ped_{n}") }).collect();
    let text = table::render(&ledger);
    assert!(text.contains("1 of 1"));
    assert!(text.contains("ped_19") && !text.contains("ped_20"));
    assert!(text.ends_with("… and 5 more\n"));
}
