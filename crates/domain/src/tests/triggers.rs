//! Triggers that look at fields: `changed`, and `reached` with `known`.

use proptest::{collection::vec, prelude::*, sample::Index};

use super::model::{STATUSES, fact, for_every_order, model};
use crate::{EffectSpec, Fact, Flow, FlowSpec, NewEffect, Resource, Value, decide};

fn flow(effect: EffectSpec) -> Flow {
    let statuses = STATUSES.iter().map(|status| (*status).to_owned()).collect();
    let effect = EffectSpec { name: "tell".to_owned(), destination: "books".to_owned(), ..effect };
    FlowSpec { statuses, effects: vec![effect], ..FlowSpec::default() }.compile().unwrap()
}

fn changed(field: &str) -> EffectSpec {
    EffectSpec { changed: Some(field.to_owned()), ..EffectSpec::default() }
}

fn receipt() -> EffectSpec {
    let known = vec!["email".to_owned(), "total".to_owned()];
    EffectSpec { reached: Some("paid".to_owned()), known, ..EffectSpec::default() }
}

/// What was written, each with the row as it was then, and the last row.
fn written(facts: &[Fact], flow: &Flow) -> (Vec<(NewEffect, Resource)>, Resource) {
    let mut current: Option<Resource> = None;
    let mut all = Vec::new();
    for fact in facts {
        let decision = decide(current.as_ref(), fact, flow);
        all.extend(decision.effects.into_iter().map(|effect| (effect, decision.resource.clone())));
        current = Some(decision.resource);
    }
    (all, current.unwrap())
}

fn told(status: &str, major: i64, fields: &[(&str, i64)]) -> Fact {
    let mut fact = fact(status, major);
    fact.growing.insert("refunded".to_owned());
    fact.fields = fields.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect();
    fact
}

/// Few statuses, versions and values, so that ties, repetitions and ways back are common.
fn facts(max: usize) -> impl Strategy<Value = Vec<Fact>> {
    let names = ["refunded", "email", "total"];
    let one = (0..STATUSES.len(), 0i64..6, vec((0..names.len(), 0i64..3), 0..3)).prop_map(
        move |(status, major, fields)| {
            let fields: Vec<_> = fields.into_iter().map(|(name, value)| (names[name], value)).collect();
            told(STATUSES[status], major, &fields)
        },
    );
    vec(one, 1..=max)
}

#[test]
fn a_change_is_told_once_and_also_when_it_leads_back() {
    let there_and_back = [
        told("paid", 1, &[("email", 1)]),
        told("paid", 2, &[("email", 2)]),
        told("paid", 3, &[("email", 1)]),
    ];
    let (effects, _) = written(&there_and_back, &flow(changed("email")));
    let keys: Vec<_> = effects.iter().map(|(effect, _)| effect.key.as_str()).collect();
    assert_eq!(keys, ["1@1.0", "2@2.0", "1@3.0"]);
    let older_and_again = [
        told("paid", 3, &[("refunded", 5)]),
        told("paid", 2, &[("refunded", 2)]),
        told("paid", 4, &[("refunded", 5)]),
        told("paid", 5, &[]),
    ];
    assert_eq!(written(&older_and_again, &flow(changed("refunded"))).0.len(), 1);
}

#[test]
fn a_receipt_waits_for_the_address() {
    let flow = flow(receipt());
    let whole = [told("paid", 2, &[("total", 5)]), told("created", 1, &[("email", 7)]), told("paid", 3, &[])];
    for_every_order(&whole, |order| {
        let (effects, _) = written(order, &flow);
        assert_eq!(effects.len(), 1, "{order:#?}");
        assert!(effects[0].1.fields.contains_key("email") && effects[0].1.fields.contains_key("total"));
    });
    assert!(written(&whole[..1], &flow).0.is_empty());
    assert!(written(&whole[1..2], &flow).0.is_empty());
}

#[test]
fn known_goes_only_with_reached_and_a_change_needs_a_field() {
    let faults = |effect: EffectSpec| {
        let effect = EffectSpec { name: "tell".to_owned(), destination: "books".to_owned(), ..effect };
        let spec =
            FlowSpec { statuses: vec!["paid".to_owned()], effects: vec![effect], ..FlowSpec::default() };
        spec.compile().unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let waiting = EffectSpec { known: vec!["email".to_owned()], ..changed("total") };
    assert!(faults(waiting)[0].contains("known: goes only with `reached`"));
    assert!(faults(changed(" "))[0].contains("needs exactly one of"));
    let both = EffectSpec { reached: Some("paid".to_owned()), ..changed("total") };
    assert!(faults(both)[0].contains("needs exactly one of"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_order_the_last_change_told_is_the_value_that_stays(facts in facts(5)) {
        for field in ["refunded", "email"] {
            let flow = flow(changed(field));
            let expected = model(&facts, &flow).fields.get(field).map(|(value, _)| value.clone());
            for_every_order(&facts, |order| {
                let (effects, _) = written(order, &flow);
                let value = |row: &Resource| row.fields[field].value.clone();
                assert_eq!(effects.last().map(|(_, row)| value(row)), expected, "{order:#?}");
                let mut keys: Vec<_> = effects.iter().map(|(effect, _)| &effect.key).collect();
                keys.sort();
                keys.dedup();
                assert_eq!(keys.len(), effects.len(), "each change has a key of its own");
                assert!(effects.windows(2).all(|pair| value(&pair[0].1) != value(&pair[1].1)));
            });
        }
    }

    #[test]
    fn whether_a_waiting_effect_is_due_depends_on_the_set_alone(facts in facts(5)) {
        let flow = flow(receipt());
        let row = model(&facts, &flow);
        let due = row.reached.contains("paid") && row.fields.contains_key("email") && row.fields.contains_key("total");
        for_every_order(&facts, |order| assert_eq!(written(order, &flow).0.len(), usize::from(due), "{order:#?}"));
    }

    #[test]
    fn a_fact_handed_in_again_tells_no_change(facts in facts(12), again in any::<Index>()) {
        for effect in [changed("refunded"), changed("email"), receipt()] {
            let flow = flow(effect);
            let (_, row) = written(&facts, &flow);
            prop_assert!(decide(Some(&row), again.get(&facts), &flow).effects.is_empty());
        }
    }
}
