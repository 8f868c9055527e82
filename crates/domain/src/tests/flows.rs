//! Flows are checked before they are used.

use std::collections::BTreeMap;

use super::model::order_flow;
use crate::{EffectSpec, FlowSpec};

fn spec() -> FlowSpec {
    FlowSpec { statuses: vec!["open".to_owned(), "closed".to_owned()], ..FlowSpec::default() }
}

fn faults(spec: &FlowSpec) -> Vec<String> {
    spec.compile().unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn the_shipped_flow_has_the_documented_ranks_and_keeps_short_histories() {
    let flow = order_flow();
    let ranks: Vec<_> = ["created", "paid", "shipped", "canceled", "refunded"]
        .iter()
        .map(|status| flow.rank(status))
        .collect();
    assert_eq!(ranks, [Some(1), Some(2), Some(3), Some(4), Some(5)]);
    assert_eq!(flow.rank("lost"), None);
    assert!(flow.allows("canceled", "refunded") && !flow.allows("refunded", "canceled"));
    assert!(flow.keeps_short_history());
}

#[test]
fn a_flow_that_can_come_back_from_a_terminal_status_keeps_all_it_was_told() {
    let terminal = BTreeMap::from([("closed".to_owned(), vec!["open".to_owned()])]);
    assert!(!FlowSpec { terminal, ..spec() }.compile().unwrap().keeps_short_history());
}

#[test]
fn every_fault_is_named() {
    let effect = EffectSpec {
        name: "notify".to_owned(),
        enter: Some("lost".to_owned()),
        reached: Some("open".to_owned()),
        requires: Some("unknown".to_owned()),
        ..EffectSpec::default()
    };
    let terminal = BTreeMap::from([("ended".to_owned(), vec!["open".to_owned()])]);
    let statuses = vec!["open".to_owned(), "open".to_owned()];
    let found = faults(&FlowSpec { statuses, terminal, effects: vec![effect] });
    for needle in [
        "statuses[1]: \"open\" stands twice",
        "terminal.ended: \"ended\" is no status",
        "effects[0].destination: is empty",
        "\"lost\" is no status",
        "effects[0].requires: \"unknown\" is no effect",
        "needs exactly one of `enter`, `reached`, `event`, `changed`",
    ] {
        assert!(found.iter().any(|fault| fault.contains(needle)), "{needle} not in {found:#?}");
    }
}

#[test]
fn from_goes_only_with_enter_and_keys_are_checked() {
    let effect = EffectSpec {
        name: "notify".to_owned(),
        reached: Some("open".to_owned()),
        from: vec!["closed".to_owned()],
        key: Some("fields".to_owned()),
        destination: "mail".to_owned(),
        ..EffectSpec::default()
    };
    let found = faults(&FlowSpec { effects: vec![effect], ..spec() });
    assert!(found[0].contains("goes only with `enter`"), "{found:?}");
    assert!(found[1].contains("neither `event` nor `field:NAME`"), "{found:?}");
}

#[test]
fn an_effect_cancels_only_an_earlier_one_that_goes_the_same_way_and_happens_once() {
    let effect = |name: &str, destination: &str| EffectSpec {
        name: name.to_owned(),
        reached: Some("open".to_owned()),
        destination: destination.to_owned(),
        ..EffectSpec::default()
    };
    let halt = EffectSpec { cancels: Some("release".to_owned()), ..effect("halt", "picking") };
    let told = |first: EffectSpec, second: &EffectSpec| {
        FlowSpec { effects: vec![first, second.clone()], ..spec() }
            .compile()
            .err()
            .map(|found| found[0].to_string())
    };
    assert_eq!(told(effect("release", "picking"), &halt), None);
    for (first, reason) in [
        (
            effect("other", "picking"),
            "effects[1].cancels: \"release\" is no effect that stands before this one",
        ),
        (effect("release", "mail"), "effects[1].cancels: \"release\" goes to another destination"),
        (
            EffectSpec { key: Some("field:total".to_owned()), ..effect("release", "picking") },
            "effects[1].cancels: goes only with effects that happen once",
        ),
    ] {
        let found = told(first, &halt).unwrap();
        assert!(found.starts_with(reason), "{found}");
    }
}
