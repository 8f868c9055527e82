//! What the receiver stores: how many, which bytes, which key.

use profile::{ELEMENTS_MAX, Envelope, Incoming, Profile};
use sha2::{Digest as _, Sha256};

use crate::support::{envelopes, loja, loja_with};

const PAID: &str = r#"{"id":"evt_1","type":"order.paid","sequence":2,"data":{"id":"ped_1"}}"#;

fn one<'a>(profile: &'a Profile, body: &'a [u8]) -> Envelope<'a> {
    let mut all = envelopes(profile, body);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn sha256(body: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(body)))
}

fn assert_unreadable(profile: &Profile, body: &[u8]) {
    let envelope = one(profile, body);
    let shown = String::from_utf8_lossy(&body[..body.len().min(99)]).into_owned();
    assert_eq!(envelope.body.as_ref(), body, "{shown}");
    assert_eq!(envelope.dedup_key, Some(sha256(body)), "{shown}");
    assert_eq!((envelope.event_type, envelope.kind, envelope.resource_id), (None, None, None), "{shown}");
}

#[test]
fn one_event_is_one_envelope_with_its_names() {
    let profile = loja();
    let envelope = one(&profile, PAID.as_bytes());
    assert_eq!(envelope.body.as_ref(), PAID.as_bytes());
    assert_eq!(envelope.dedup_key.as_deref(), Some("evt_1"));
    assert_eq!(envelope.event_type.as_deref(), Some("order.paid"));
    assert_eq!(envelope.kind.as_deref(), Some("order"));
    assert_eq!(envelope.resource_id.as_deref(), Some("ped_1"));
}

#[test]
fn a_list_is_one_envelope_for_each_element_with_its_exact_bytes() {
    let profile = loja();
    let body = format!("\n[ {PAID} ,\t{{ \"id\" : \"evt_2\"}}, 7 ]\n");
    let all = envelopes(&profile, body.as_bytes());
    let bodies: Vec<&[u8]> = all.iter().map(|envelope| envelope.body.as_ref()).collect();
    assert_eq!(bodies, [PAID.as_bytes(), br#"{ "id" : "evt_2"}"#, b"7"]);
    let keys: Vec<_> = all.into_iter().map(|envelope| envelope.dedup_key.unwrap()).collect();
    assert_eq!(keys, ["evt_1".to_owned(), "evt_2".to_owned(), sha256(b"7")]);
}

#[test]
fn what_cannot_be_read_is_stored_with_its_bytes_alone() {
    let profile = loja();
    let too_many = format!("[{}{{}}]", "{},".repeat(ELEMENTS_MAX));
    let deep = format!(r#"{{"id":"e","extra":{}{}}}"#, "[".repeat(128), "]".repeat(128));
    let deep_list = format!("[{PAID},{}{}]", "[".repeat(128), "]".repeat(128));
    let long_id = PAID.replace("ped_1", &"x".repeat(513));
    for body in [
        b"" as &[u8],
        b" \r\n",
        b"null",
        b"\"order.paid\"",
        b"7",
        b"true",
        b"[]",
        b"[1,\"two\",null,[{}]]",
        b"{",
        b"{} {}",
        b"{}x",
        b"[{}",
        b"[{}],",
        b"<xml/>",
        b"id=evt_1&type=order.paid",
        b"\xef\xbb\xbf",
        b"{\"id\":\"evt_1\"}\xef\xbb\xbf",
        b"{\"id\":\"Jos\xe9\"}",
        b"{\"id\":\"e\",\"other\":\"Jos\xe9\"}",
        b"\x1f\x8b\x08\x00",
        b"{\"id\":\"a\x00b\"}",
        br#"{"id":"a\u0000b"}"#,
        br#"{"id":"e","type":"order\u0000"}"#,
        br#"{"id":"e","data":{"id":"\u0000"}}"#,
        br#"{"id":"\ud83d"}"#,
        br#"{"id":"e","id":"e"}"#,
        br#"{"id":"e","\u0069d":"f"}"#,
        br#"{"type":"a","type":"b"}"#,
        br#"{"sequence":1,"sequence":2}"#,
        br#"{"data":{"id":"a"},"data":{"id":"b"}}"#,
        br#"{"data":{"id":"ped_1","id":"ped_2"}}"#,
        br#"{"data":{"total_cents":12990,"total_cents":1}}"#,
        br#"{"id":"e","type":["order.paid"]}"#,
        br#"{"id":"e","data":{"id":{"a":1}}}"#,
        br#"{"id":"e","data":{"id":true}}"#,
        too_many.as_bytes(),
        deep.as_bytes(),
        deep_list.as_bytes(),
        long_id.as_bytes(),
        "[".repeat(200_000).as_bytes(),
    ] {
        assert_unreadable(&profile, body);
    }
}

#[test]
fn a_thousand_events_are_read_and_nesting_up_to_the_limit_too() {
    let profile = loja();
    let many = format!("[{}{{}}]", "{},".repeat(ELEMENTS_MAX - 1));
    assert_eq!(envelopes(&profile, many.as_bytes()).len(), ELEMENTS_MAX);
    let deep = format!(r#"{{"id":"e","extra":{}{}}}"#, "[".repeat(127), "]".repeat(127));
    assert_eq!(one(&profile, deep.as_bytes()).dedup_key.as_deref(), Some("e"));
}

#[test]
fn a_byte_order_mark_is_kept_and_read_over() {
    let profile = loja();
    let body = format!("\u{feff}{PAID}");
    let envelope = one(&profile, body.as_bytes());
    assert_eq!(envelope.body.as_ref(), body.as_bytes());
    assert_eq!(envelope.dedup_key.as_deref(), Some("evt_1"));
}

#[test]
fn keys_that_decide_nothing_may_repeat_and_hold_anything() {
    let profile = loja();
    for body in [
        r#"{"id":"e","x":1,"x":2,"data":{"id":"r","y":1,"y":2}}"#,
        r#"{"id":"e","x":"\ud83d","data":{"id":"r","n":1e999}}"#,
        r#"{"id":"e","x":"sem\u0000nome","data":{"id":"r"}}"#,
        r#"{"other":{"id":"x"},"id":"e","data":{"inner":{"id":"z"},"id":"r"}}"#,
        r#"{"\u0069d":"\u0065","data":{"id":"\u0072"}}"#,
    ] {
        let envelope = one(&profile, body.as_bytes());
        assert_eq!(envelope.dedup_key.as_deref(), Some("e"), "{body}");
        assert_eq!(envelope.resource_id.as_deref(), Some("r"), "{body}");
    }
}

#[test]
fn ids_are_exact_text() {
    let profile = loja();
    for (written, id) in [
        (r#""ped\u005f1""#, Some("ped_1")),
        ("820982911946154508", Some("820982911946154508")),
        ("98765432109876543210987654321", Some("98765432109876543210987654321")),
        ("1.10", Some("1.10")),
        (r#""C:\\u0000x""#, Some(r"C:\u0000x")),
        (r#"" ped 1 ""#, Some(" ped 1 ")),
        ("null", None),
        (r#""""#, None),
    ] {
        let body = format!(r#"{{"id":"e","data":{{"id":{written}}}}}"#);
        assert_eq!(one(&profile, body.as_bytes()).resource_id.as_deref(), id, "{written}");
    }
    for data in ["null", "7", "\"x\"", "[{\"id\":1}]", "{}"] {
        let body = format!(r#"{{"id":"e","data":{data}}}"#);
        let envelope = one(&profile, body.as_bytes());
        assert_eq!(
            (envelope.resource_id.as_deref(), envelope.kind.as_deref()),
            (None, Some("order")),
            "{data}"
        );
    }
}

#[test]
fn the_first_composition_whose_parts_are_all_there_is_the_key() {
    let keys = r#"[["id"], ["type", "data.id"], ["data.ref"]]"#;
    let profile = loja_with(r#"[["id"]]"#, keys);
    for (body, key) in [
        (r#"{"id":"evt_1","type":"t","data":{"id":"r"}}"#, Some("evt_1")),
        (r#"{"id":17,"type":"t","data":{"id":"r"}}"#, Some("17")),
        (r#"{"id":"","type":"t","data":{"id":"r"}}"#, Some("2#1:t|1:r")),
        (r#"{"id":null,"type":"t","data":{"id":"r"}}"#, Some("2#1:t|1:r")),
        (r#"{"id":{},"type":"a|1:b","data":{"id":true}}"#, None),
        (r#"{"type":"t","data":{"ref":"evt_1"}}"#, Some("3#5:evt_1")),
        (r#"{"type":"t","data":{}}"#, None),
    ] {
        let fallback = sha256(body.as_bytes());
        let found = one(&profile, body.as_bytes()).dedup_key.unwrap();
        assert_eq!(found, key.unwrap_or(&fallback), "{body}");
    }
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(600));
    let key = one(&profile, long.as_bytes()).dedup_key.unwrap();
    assert!(key.starts_with("sha256:") && key != sha256(long.as_bytes()));
}

#[test]
fn a_header_can_be_a_part_and_its_copies_count_once() {
    let keys = r#"[[{ header = "X-Event-Id", unsigned = true }]]"#;
    let profile = loja_with(r#"[["id"]]"#, keys);
    assert!(profile.kept_headers().contains(&"x-event-id".to_owned()));
    let key = |headers: &[(&str, &[u8])]| {
        let request = Incoming { body: PAID.as_bytes(), headers: &headers };
        profile.envelopes(&request).remove(0).dedup_key.unwrap()
    };
    let fallback = sha256(PAID.as_bytes());
    assert_eq!(key(&[("x-event-id", b"h1")]), "h1");
    assert_eq!(key(&[("x-event-id", b"h1"), ("X-Event-Id", b" h1")]), "h1");
    assert_eq!(key(&[("x-event-id", b"h1"), ("x-event-id", b"h2")]), fallback);
    assert_eq!(key(&[("x-event-id", b"\xff")]), fallback);
    assert_eq!(key(&[("x-event-id", b"")]), fallback);
    assert_eq!(key(&[]), fallback);
}
