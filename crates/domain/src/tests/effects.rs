//! Effects hang on what happened to the row.

use std::collections::BTreeMap;

use super::model::{apply, fact, for_every_order, order_flow};
use crate::{EffectSpec, Fact, FlowSpec, Resource, Value, decide};

fn written(facts: &[Fact]) -> Vec<String> {
    let mut effects = apply(facts, &order_flow()).effects;
    effects.retain(|name| !name.starts_with("milestone_"));
    effects
}

#[test]
fn a_payment_releases_the_picking_once() {
    assert_eq!(written(&[fact("created", 1), fact("paid", 2), fact("paid", 3)]), ["release_picking"]);
}

#[test]
fn a_payment_that_arrives_after_the_cancellation_releases_nothing() {
    assert!(written(&[fact("canceled", 3), fact("paid", 2)]).is_empty());
    assert!(written(&[fact("canceled", 3), fact("paid", 4)]).is_empty());
}

#[test]
fn a_late_release_is_not_sent_for_goods_on_the_way() {
    assert!(written(&[fact("shipped", 3), fact("paid", 2)]).is_empty());
}

#[test]
fn a_cancellation_stops_what_was_released_even_when_the_refund_came_first() {
    assert_eq!(
        written(&[fact("paid", 2), fact("refunded", 4), fact("canceled", 3)]),
        ["release_picking", "notify_refund", "halt_picking"]
    );
    assert_eq!(
        written(&[fact("created", 1), fact("paid", 4), fact("canceled", 3)]),
        ["release_picking", "halt_picking"]
    );
}

#[test]
fn a_cancellation_stops_nothing_that_was_not_released_or_is_on_the_way() {
    assert!(written(&[fact("created", 1), fact("canceled", 2)]).is_empty());
    assert_eq!(written(&[fact("paid", 2), fact("shipped", 3), fact("canceled", 4)]), ["release_picking"]);
}

#[test]
fn milestones_do_not_depend_on_the_order_of_arrival() {
    let flow = order_flow();
    let facts = [fact("created", 1), fact("canceled", 2), fact("paid", 3), fact("refunded", 4)];
    for_every_order(&facts, |order| {
        let mut milestones: Vec<_> =
            apply(order, &flow).effects.into_iter().filter(|name| name.starts_with("milestone_")).collect();
        milestones.sort();
        assert_eq!(
            milestones,
            ["milestone_canceled", "milestone_created", "milestone_paid", "milestone_refunded"]
        );
    });
}

#[test]
fn effects_of_a_resource_are_numbered_in_their_order() {
    let flow = order_flow();
    let mut current: Option<Resource> = None;
    let mut numbers = Vec::new();
    for fact in [fact("created", 1), fact("paid", 2), fact("canceled", 3), fact("refunded", 4)] {
        let decision = decide(current.as_ref(), &fact, &flow);
        numbers.extend(decision.effects.iter().map(|effect| effect.sequence));
        current = Some(decision.resource);
    }
    let expected: Vec<i32> = (0..i32::try_from(numbers.len()).unwrap()).collect();
    assert_eq!(numbers, expected);
}

fn renewal_flow(key: Option<&str>) -> crate::Flow {
    let effect = EffectSpec {
        name: "book_renewal".to_owned(),
        event: Some("subscription.renewed".to_owned()),
        key: key.map(str::to_owned),
        destination: "ledger".to_owned(),
        ..EffectSpec::default()
    };
    let statuses = vec!["active".to_owned(), "ended".to_owned()];
    FlowSpec { statuses, terminal: BTreeMap::new(), effects: vec![effect] }.compile().unwrap()
}

fn renewal(key: &str, cycle: &str) -> Fact {
    Fact {
        status: "active".to_owned(),
        event_type: "subscription.renewed".to_owned(),
        event_key: key.to_owned(),
        fields: BTreeMap::from([("next_billing_at".to_owned(), Value::Text(cycle.to_owned()))]),
        ..fact("created", 1)
    }
}

fn keys(facts: &[Fact], flow: &crate::Flow) -> Vec<String> {
    let mut current: Option<Resource> = None;
    let mut keys = Vec::new();
    for fact in facts {
        let decision = decide(current.as_ref(), fact, flow);
        keys.extend(decision.effects.iter().map(|effect| effect.key.clone()));
        current = Some(decision.resource);
    }
    keys
}

#[test]
fn an_event_effect_is_distinct_by_event_or_by_a_field() {
    let facts = [renewal("evt_1", "2026-02"), renewal("evt_2", "2026-03")];
    assert_eq!(keys(&facts, &renewal_flow(None)), ["evt_1", "evt_2"]);
    assert_eq!(keys(&facts, &renewal_flow(Some("field:next_billing_at"))), ["2026-02", "2026-03"]);
    assert!(keys(&facts, &renewal_flow(Some("field:unknown"))).is_empty());
}
