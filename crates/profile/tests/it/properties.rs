//! Whatever bytes come in, nothing panics, nothing is lost, and receiver and applier agree.

use profile::{Incoming, ItemOf, Origin, Profile, Reading};
use proptest::prelude::*;

use crate::support::{ARRIVAL, loja, loja_with, read_at};

const EVENT: &str = r#"{"id":"evt_1","type":"order.paid","sequence":2,"occurred_at":"2026-01-02T03:04:05Z","data":{"id":"ped_1","total_cents":12990,"customer_email":"a\u0040example.com","list":[{},[1.5e3,null,true]]}}"#;

fn check(profile: &Profile, body: &[u8]) {
    let envelopes = profile.envelopes(&Incoming { body, headers: &() });
    assert!(!envelopes.is_empty());
    for envelope in &envelopes {
        assert!(envelope.dedup_key.as_ref().is_some_and(|key| !key.is_empty() && key.len() <= 512));
        let part = body.windows(envelope.body.len().max(1)).any(|window| window == envelope.body.as_ref());
        assert!(part || envelope.body.is_empty());
        let reading = read_at(profile, Origin::Webhook, &envelope.body, ARRIVAL);
        let malformed = matches!(reading, Reading::Malformed(_));
        assert!(envelope.is_readable() || malformed, "unreadable at the door, then {reading:?}");
    }
    for origin in [Origin::Webhook, Origin::Reconcile, Origin::Backfill] {
        read_at(profile, origin, body, ARRIVAL);
    }
    for of in [ItemOf::Item, ItemOf::Event, ItemOf::Named("x".to_owned())] {
        let again = profile.api_envelope(&of, body);
        assert_eq!(again, profile.api_envelope(&of, body));
        let _ = profile.item_instant(&of, body);
    }
    if let Some(api) = profile.api() {
        let header = |_: &str| Some(String::from_utf8_lossy(body).into_owned());
        for list in &api.lists {
            let _ = list.page(None, body, &header);
        }
        let _ = api.get.as_ref().map(|get| get.read(body));
    }
}

/// JSON-like text from pieces that meet the rules' edges.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\"id\":",
        "\"type\":",
        "\"data\":",
        "\"sequence\":",
        "\"occurred_at\":",
        "\"order.paid\"",
        "\"ped_1\"",
        "2",
        "2.0",
        "-1",
        "1e999",
        "null",
        "true",
        "{}",
        "[]",
        "\"\\u0000\"",
        "\"\\ud83d\"",
        "\"2026-01-02T03:04:05Z\"",
        "\u{feff}",
        " ",
        "é",
        "\0",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn random_bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&loja(), &body);
    }

    #[test]
    fn json_like_text_never_panics(body in pieces()) {
        check(&loja(), body.as_bytes());
        check(&loja(), format!("{{{body}}}").as_bytes());
        check(&loja(), format!("[{body}]").as_bytes());
    }

    #[test]
    fn a_mutated_event_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6)
    ) {
        let mut body = EVENT.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(body.len());
            match kind {
                0 => body[at] = byte,
                1 => body.insert(at, byte),
                _ => drop(body.remove(at)),
            }
        }
        check(&loja(), &body);
    }

    #[test]
    fn an_instants_text_never_panics(text in "\\PC{0,40}", odd in "[0-9TtZz:.+ -]{0,40}") {
        for text in [text, odd] {
            let body = serde_json::json!({
                "id": "e", "type": "order.paid", "occurred_at": text, "data": { "id": "r" }
            });
            check(&loja(), body.to_string().as_bytes());
        }
    }

    #[test]
    fn different_parts_give_different_keys(
        one in prop::collection::vec("[a-c0-9:|#]{1,6}", 3), other in prop::collection::vec("[a-c0-9:|#]{1,6}", 3)
    ) {
        prop_assume!(one != other);
        let profile = loja_with("[[\"id\"]]", "[[\"id\", \"a\", \"b\"]]");
        let body = |parts: &[String]| {
            serde_json::json!({ "id": parts[0], "a": parts[1], "b": parts[2] }).to_string().into_bytes()
        };
        let (one, other) = (body(&one), body(&other));
        let key = |body| profile.envelopes(&Incoming { body, headers: &() }).remove(0).dedup_key;
        prop_assert_ne!(key(&one), key(&other));
    }

    #[test]
    fn what_serde_json_refuses_is_unreadable(body in pieces()) {
        let profile = loja();
        let body = format!("{{{body}}}");
        let envelope = profile.envelopes(&Incoming { body: body.as_bytes(), headers: &() }).remove(0);
        let skimmed = serde_json::from_str::<serde::de::IgnoredAny>(&body);
        prop_assert!(skimmed.is_ok() || !envelope.is_readable());
    }
}
