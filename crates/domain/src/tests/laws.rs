//! Convergence: any order, any duplication and any grouping of the same facts give the same row.

use proptest::{collection::vec, prelude::*, sample::Index};

use super::model::{STATUSES, apply, fact, for_every_order, model, order_flow};
use crate::{Fact, Flow, FlowSpec, Resource, Value, Version, decide};

/// Facts with few versions, so that ties and repetitions are common.
fn facts(max: usize) -> impl Strategy<Value = Vec<Fact>> {
    let one = (0..STATUSES.len(), 0i64..8, 0u8..3, vec((0usize..3, 0i64..4), 0..3)).prop_map(
        |(status, major, rank, fields)| {
            let mut told = fact(STATUSES[status], major);
            told.version = Version::new(major, rank);
            told.growing.insert("field_1".to_owned());
            for (name, value) in fields {
                told.fields.insert(format!("field_{name}"), Value::Integer(value));
            }
            told
        },
    );
    vec(one, 1..=max)
}

/// Any flow over the five statuses: exits may lead out of terminal statuses, in circles, anywhere.
fn any_flow() -> impl Strategy<Value = Flow> {
    vec(proptest::option::of(vec(0..STATUSES.len(), 0..4)), STATUSES.len()).prop_map(|terminal| {
        let statuses: Vec<String> = STATUSES.iter().map(|name| (*name).to_owned()).collect();
        let exits = terminal.into_iter().enumerate().filter_map(|(at, exits)| {
            let exits = exits?.into_iter().map(|exit| STATUSES[exit].to_owned()).collect();
            Some((STATUSES[at].to_owned(), exits))
        });
        FlowSpec { terminal: exits.collect(), statuses, effects: Vec::new() }.compile().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn every_order_of_up_to_six_facts_gives_the_same_row_and_milestones(facts in facts(6)) {
        let flow = order_flow();
        let expected = model(&facts, &flow);
        for_every_order(&facts, |order| assert_eq!(apply(order, &flow).row, expected, "{order:#?}"));
    }

    #[test]
    fn every_order_of_up_to_five_facts_converges_in_any_flow(facts in facts(5), flow in any_flow()) {
        let expected = model(&facts, &flow);
        for_every_order(&facts, |order| {
            let row = apply(order, &flow).row;
            assert_eq!((&row.status, row.version), (&expected.status, expected.version), "{order:#?}");
            assert_eq!(row.fields, expected.fields);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn large_sets_shuffled_and_duplicated_give_the_row_of_the_set(
        (told, order) in facts(40).prop_flat_map(|facts| (Just(facts), vec(any::<Index>(), 0..120))),
        flow in any_flow(),
    ) {
        // Every fact at least once, some many times, in any order.
        let mut arrivals: Vec<&Fact> = order.iter().map(|index| index.get(&told)).collect();
        arrivals.extend(&told);
        let by = order.len();
        arrivals.rotate_left(by / 2);
        prop_assert_eq!(apply(arrivals.into_iter().rev(), &order_flow()).row, model(&told, &order_flow()));
        let row = apply(&told, &flow).row;
        let expected = model(&told, &flow);
        prop_assert_eq!((row.status, row.version, row.fields), (expected.status, expected.version, expected.fields));
    }

    #[test]
    fn words_of_the_provider_among_the_facts_converge_as_well(
        told in facts(30),
        words in vec(any::<Index>(), 0..6),
        order in any::<u64>(),
        flow in any_flow(),
    ) {
        let mut told = told;
        for word in words {
            let at = word.index(told.len());
            told[at].version = told[at].version.asked();
        }
        let mut order_flow = order_flow();
        for flow in [&mut order_flow, &mut flow.clone()] {
            flow.keep_whole_history();
            let mut arrivals: Vec<&Fact> = told.iter().collect();
            let by = usize::try_from(order).unwrap_or(0) % arrivals.len();
            arrivals.rotate_left(by);
            if order % 2 == 0 {
                arrivals.reverse();
            }
            let row = apply(arrivals, flow).row;
            let expected = model(&told, flow);
            prop_assert_eq!((row.status, row.version, row.fields), (expected.status, expected.version, expected.fields));
        }
    }

    #[test]
    fn a_fact_handed_in_again_changes_nothing_and_fires_nothing(facts in facts(12), again in any::<Index>()) {
        let flow = order_flow();
        let mut current: Option<Resource> = None;
        for fact in &facts {
            current = Some(decide(current.as_ref(), fact, &flow).resource);
        }
        let decision = decide(current.as_ref(), again.get(&facts), &flow);
        prop_assert_eq!(Some(&decision.resource), current.as_ref());
        prop_assert!(decision.effects.is_empty() && decision.transition.is_none() && decision.reached.is_none());
    }

    #[test]
    fn a_history_and_fields_that_were_written_and_read_again_are_the_same(facts in facts(12)) {
        let flow = order_flow();
        let mut current: Option<Resource> = None;
        for fact in &facts {
            let mut next = decide(current.as_ref(), fact, &flow).resource;
            let history = serde_json::from_str(&serde_json::to_string(&next.history).unwrap()).unwrap();
            let fields = serde_json::from_str(&serde_json::to_string(&next.fields).unwrap()).unwrap();
            prop_assert_eq!((&next.history, &next.fields), (&history, &fields));
            (next.history, next.fields) = (history, fields);
            current = Some(next);
        }
    }

    #[test]
    fn a_short_history_never_holds_more_than_two_entries_of_a_status(facts in facts(60)) {
        let flow = order_flow();
        let mut current: Option<Resource> = None;
        for fact in &facts {
            current = Some(decide(current.as_ref(), fact, &flow).resource);
        }
        prop_assert!(current.unwrap().history.entries().len() <= 2 * STATUSES.len());
    }
}
