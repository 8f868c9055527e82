//! Lives of orders in which the simpler rule (compare with the stored version only) goes wrong.

use super::model::{apply, fact, for_every_order, model, order_flow, with_email};
use crate::{Fact, Flow, Outcome, Value, Version};

/// The simpler rule: newer than the stored version or not; late facts fill empty fields only.
struct Naive {
    status: String,
    version: Version,
    email: Option<Value>,
}

fn naive(facts: &[Fact], flow: &Flow) -> Naive {
    let email = |fact: &Fact| fact.fields.get("customer_email").cloned();
    let first = &facts[0];
    let mut row = Naive { status: first.status.clone(), version: first.version, email: email(first) };
    for fact in &facts[1..] {
        if fact.version > row.version && flow.allows(&row.status, &fact.status) {
            row = Naive {
                status: fact.status.clone(),
                version: fact.version,
                email: email(fact).or(row.email),
            };
        } else if row.email.is_none() {
            row.email = email(fact);
        }
    }
    row
}

fn ends_of(facts: &[Fact]) -> (Vec<String>, Vec<String>) {
    let flow = order_flow();
    let (mut ours, mut simple) = (Vec::new(), Vec::new());
    for_every_order(facts, |order| {
        ours.push(apply(order, &flow).row.status);
        simple.push(naive(order, &flow).status);
    });
    ours.sort();
    ours.dedup();
    simple.sort();
    simple.dedup();
    (ours, simple)
}

#[test]
fn created_canceled_paid_ends_canceled_in_any_order_where_the_simpler_rule_does_not() {
    let (ours, simple) = ends_of(&[fact("created", 1), fact("canceled", 2), fact("paid", 3)]);
    assert_eq!(ours, ["canceled"]);
    assert_eq!(simple, ["canceled", "paid"], "the simpler rule depends on arrival");
}

#[test]
fn a_payment_after_the_refund_ends_refunded_in_any_order() {
    let (ours, simple) = ends_of(&[fact("paid", 2), fact("refunded", 5), fact("paid", 6)]);
    assert_eq!(ours, ["refunded"]);
    assert_eq!(simple, ["paid", "refunded"]);
}

#[test]
fn of_three_facts_of_which_two_carry_an_email_the_newer_email_wins_in_any_order() {
    let facts = [
        with_email(fact("created", 1), "old@example.com"),
        with_email(fact("paid", 2), "new@example.com"),
        fact("shipped", 3),
    ];
    let flow = order_flow();
    let expected = model(&facts, &flow);
    let mut simple = Vec::new();
    for_every_order(&facts, |order| {
        assert_eq!(apply(order, &flow).row, expected);
        simple.push(naive(order, &flow).email);
    });
    let newest = Some(Value::Text("new@example.com".to_owned()));
    assert!(simple.contains(&newest));
    assert!(simple.iter().any(|email| *email != newest), "the simpler rule keeps whichever came first");
}

#[test]
fn equal_versions_are_settled_by_the_values() {
    let flow = order_flow();
    let facts = [with_email(fact("paid", 2), "b@example.com"), with_email(fact("paid", 2), "a@example.com")];
    for_every_order(&facts, |order| {
        let row = apply(order, &flow).row;
        assert_eq!(row.fields["customer_email"].0, Value::Text("a@example.com".to_owned()));
    });
    let tied = [fact("paid", 2), fact("shipped", 2)];
    for_every_order(&tied, |order| assert_eq!(apply(order, &flow).row.status, "shipped"));
}

#[test]
fn outcomes_say_what_happened() {
    use Outcome::{Applied, Stale, TerminalRegression};
    let outcomes = |facts: &[Fact]| apply(facts, &order_flow()).outcomes;
    assert_eq!(outcomes(&[fact("paid", 2), fact("created", 1)]), [Applied, Stale]);
    assert_eq!(outcomes(&[fact("paid", 2), fact("paid", 6)]), [Applied, Applied]);
    assert_eq!(outcomes(&[fact("paid", 2), fact("paid", 2)]), [Applied, Stale]);
    assert_eq!(outcomes(&[fact("canceled", 3), fact("paid", 4)]), [Applied, TerminalRegression]);
    // A late cancel before a payment changes the status although it is older.
    assert_eq!(
        outcomes(&[fact("created", 1), fact("paid", 4), fact("canceled", 3)]),
        [Applied, Applied, Applied]
    );
    // A refund that overtook the cancellation: the cancellation changes no status.
    assert_eq!(
        outcomes(&[fact("paid", 2), fact("refunded", 4), fact("canceled", 3)]),
        [Applied, Applied, Stale]
    );
}

#[test]
fn a_regression_stays_in_the_history_for_operators_and_changes_no_status() {
    let flow = order_flow();
    let applied = apply(&[fact("refunded", 5), fact("paid", 6)], &flow);
    assert_eq!((applied.row.status.as_str(), applied.row.version.major), ("refunded", 5));
    assert!(applied.row.reached.contains("paid"));
}

#[test]
fn an_older_end_of_what_was_followed_is_told_once_and_a_newer_fact_that_is_refused_is_not() {
    let flow = order_flow();
    let told = |facts: &[Fact]| {
        let mut row = None;
        let mut told = Vec::new();
        for fact in facts {
            let decision = crate::decide(row.as_ref(), fact, &flow);
            told.push(decision.overruled.clone());
            row = Some(decision.resource);
        }
        told
    };
    let (created, canceled, paid) = (fact("created", 1), fact("canceled", 3), fact("paid", 4));
    let late = told(&[created.clone(), paid.clone(), canceled.clone(), canceled.clone()]);
    assert_eq!(late, [None, None, Some("paid".to_owned()), None]);
    assert_eq!(told(&[created, canceled, paid]), [None, None, None]);
}
