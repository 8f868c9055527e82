//! A profile that uses every key once.

use std::collections::BTreeSet;

use domain::{FlowSpec, Origin, Value};
use profile::{Incoming, Profile, Reading, Setup, Stored};

use crate::support::ARRIVAL;

const FULL: &str = include_str!("full.toml");

/// What the file format can say, from its own sources: a key that is added there has to be used here.
const SPECS: [&str; 5] = [
    include_str!("../../src/spec.rs"),
    include_str!("../../src/spec/api.rs"),
    include_str!("../../src/spec/list.rs"),
    include_str!("../../src/spec/place.rs"),
    include_str!("../../src/spec/watch.rs"),
];
/// Keys that stand instead of those that are used.
const INSTEAD: [&str; 2] = ["item", "list"];

fn full(options: &[&str]) -> Profile {
    let options = options.iter().map(|name| (*name).to_owned()).collect();
    let setup = Setup { options, ..Setup::default() };
    Profile::parse_with("full.toml", FULL, &setup).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn keys(value: &toml::Value, found: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        toml::Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn it_uses_every_key() {
    let mut used = BTreeSet::new();
    keys(&toml::Value::Table(FULL.parse().unwrap()), &mut used);
    let mut known = BTreeSet::new();
    let mut renamed = None;
    for line in SPECS.iter().flat_map(|text| text.lines()).map(str::trim) {
        if let Some((_, name)) = line.split_once("rename = \"") {
            renamed = name.split_once('"').map(|(name, _)| name);
        }
        let Some((name, _)) = line.strip_prefix("pub(crate) ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        known.insert(renamed.take().unwrap_or(name).to_owned());
    }
    assert!(known.len() > 50, "the sources are not read: {known:?}");
    let unused: Vec<_> = known.difference(&used).filter(|key| !INSTEAD.contains(&key.as_str())).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

fn read(profile: &Profile, body: &str, headers: &[(&str, &str)]) -> Vec<Reading> {
    let spec = FlowSpec {
        statuses: ["created", "paid", "refunded"].map(str::to_owned).to_vec(),
        ..FlowSpec::default()
    };
    let flow = spec.compile().unwrap();
    let headers = headers.to_vec();
    let envelopes = profile.envelopes(&Incoming { body: body.as_bytes(), headers: &headers });
    let read = |envelope: &profile::Envelope<'_>| {
        let stored = Stored {
            source: "full",
            origin: Origin::Webhook,
            body: &envelope.body,
            headers: &headers,
            event_type: None,
            event_key: "key",
            received_at: ARRIVAL.parse().unwrap(),
        };
        profile.read(&stored, &|_| Some(&flow))
    };
    envelopes.iter().map(read).collect()
}

const DATA: &str = r#""order":{"id":9007199254740993},"version":3,"currency":"brl","total":"19.99","fee":120,"cents":1999,"refunded":500,"gift":true,"due":1767323045,"channel":"w","code":"N-7""#;

#[test]
fn it_reads_what_it_says() {
    let profile = full(&[]);
    assert_eq!((profile.answers().success, profile.success_body()), (202, "[accepted]"));
    let event = format!(r#"{{"id":"e1","action":"paid","data":{{{DATA}}}}}"#);
    let body = format!(r#"{{"batches":[{{"events":[{{"event":{event}}},{{"event":{event}}}]}}]}}"#);
    let readings = read(&profile, &body, &[("x-topic", "ORDER")]);
    assert_eq!(readings.len(), 2);
    for reading in readings {
        let Reading::Fact { resource, fact } = reading else { panic!("{reading:?}") };
        assert_eq!((resource.id.as_str(), fact.status.as_str()), ("9007199254740993", "paid"));
        let text = |text: &str| Value::Text(text.to_owned());
        for (name, value) in [
            ("region", text("BR")),
            ("code", Value::Integer(7)),
            ("currency", text("BRL")),
            ("total", Value::Integer(1999)),
            ("fee", Value::Integer(120)),
            ("cents", Value::Integer(1999)),
            ("gift", Value::Boolean(true)),
            ("due", text("2026-01-02T03:04:05Z")),
            ("channel", text("web")),
            ("left", Value::Integer(1499)),
        ] {
            assert_eq!(fact.fields.get(name), Some(&value), "{name}");
        }
        assert_eq!(fact.growing, BTreeSet::from(["cents".to_owned()]));
    }
}

#[test]
fn each_rule_has_its_say() {
    let one =
        |profile: &Profile, topic: &str, body: &str| read(profile, body, &[("x-topic", topic)]).remove(0);
    let off = full(&[]);
    let thin = one(&off, "order", r#"{"action":"thin","data":{"order":{"id":"1"}}}"#);
    let Reading::Fetch { resource, fetch, expect, event_type } = thin else { panic!("{thin:?}") };
    assert_eq!((resource.id.as_str(), fetch.as_str(), event_type.as_str()), ("1", "order", "order/thin"));
    assert_eq!(expect.as_deref(), Some("paid"));
    let refund = r#"{"id":"r","action":"x","data":{"cents":5,"refunded":5,"refund":{"id":"2","version":1,"state":"DONE"}}}"#;
    let Reading::Fact { resource, fact } = one(&off, "refund", refund) else { panic!("no refund") };
    assert_eq!((resource.kind.as_str(), fact.status.as_str()), ("refund", "refunded"));
    let part = refund.replace("\"refunded\":5", "\"refunded\":4");
    assert!(
        matches!(one(&off, "refund", &part), Reading::Malformed(_)),
        "its type is known to no other rule"
    );
    let reminder = r#"{"id":"m","action":"reminder","data":{"order":{"id":"1"},"version":1}}"#;
    assert!(matches!(one(&off, "order", reminder), Reading::Ignored(_)));
    assert!(matches!(one(&full(&["reminders"]), "order", reminder), Reading::Fact { .. }));
    assert!(matches!(one(&off, "order", &reminder.replacen('{', "{\"test\":true,", 1)), Reading::Test(_)));
}

#[test]
fn its_look_ups_say_where_and_how_long() {
    let profile = full(&[]);
    let fetch = profile.fetch("order").unwrap();
    let constants = [("expand".to_owned(), "a b".to_owned())];
    assert_eq!(
        fetch.path_of("x/{constant:expand}", &constants),
        "/v1/orders/x%2F%7Bconstant%3Aexpand%7D?expand=a%20b"
    );
    assert_eq!(fetch.missing, [404, 410]);
    assert_eq!((fetch.missing_for.as_secs(), fetch.settle.as_secs(), fetch.delay.as_secs()), (300, 60, 2));
    assert!(profile.fetch("nothing").is_none());
    assert_eq!(profile.options().len(), 1);
}

#[test]
fn its_handshakes_answer() {
    let profile = full(&[]);
    let headers = [(":query", "challenge=abc")];
    let handshake = profile.handshake("GET", &headers, b"", 0).unwrap();
    assert_eq!((handshake.status, handshake.signed, handshake.body(&headers).as_str()), (200, false, "abc"));
    assert!(profile.handshake("GET", &(), b"", 0).is_none());
    let ping = [("x-kind", "ping")];
    let handshake = profile.handshake("POST", &ping, br#"{"ping":true}"#, 100).unwrap();
    assert!(handshake.signed);
    assert!(profile.handshake("POST", &ping, br#"{"ping":false}"#, 100).is_none());
    assert!(profile.handshake("POST", &(), br#"{"ping":true}"#, 100).is_none());
}
