//! What the shipped profiles make of their samples: requests as they come, and answers of the provider's API.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Fact, Flow, FlowSpec, Origin, decide};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use profile::{Envelope, Incoming, Profile, QUERY, Reading, Setup, Stored};
use serde_json::Value;

use crate::shipped::{root, samples, shipped};

/// Later than every instant in the samples.
const ARRIVAL: &str = "2026-12-31T00:00:00Z";

struct Provider {
    name: String,
    samples: Value,
    flows: BTreeMap<String, Flow>,
}

/// The flows that ship: a profile's statuses must fit them.
fn flows() -> BTreeMap<String, Flow> {
    let text = std::fs::read_to_string(root().join("config/flows.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let compile = |spec: &toml::Value| {
        let mut spec = spec.clone();
        // Effects need destinations and have no say in reading.
        spec.as_table_mut().unwrap().remove("effects");
        let spec: FlowSpec = spec.try_into().unwrap();
        spec.compile().unwrap()
    };
    table["flows"].as_table().unwrap().iter().map(|(kind, spec)| (kind.clone(), compile(spec))).collect()
}

fn providers() -> Vec<Provider> {
    let of = |name: String| Provider { samples: samples(&name), flows: flows(), name };
    shipped().into_iter().map(of).collect()
}

impl Provider {
    fn profile(&self, sample: &Value) -> Profile {
        let file = format!("profiles/{}.toml", self.name);
        let text = std::fs::read_to_string(root().join(&file)).unwrap();
        let options = sample["options"].as_array().into_iter().flatten();
        let setup = Setup {
            options: options.map(|option| option.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(),
            zone: self.samples["zone"].as_str().map(|zone| TimeZone::get(zone).unwrap()),
        };
        Profile::parse_with(&file, &text, &setup).unwrap_or_else(|faults| panic!("{faults:#?}"))
    }

    fn requests(&self) -> &[Value] {
        self.samples["requests"].as_array().unwrap()
    }

    fn answers(&self) -> &[Value] {
        self.samples["answers"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    fn read(&self, profile: &Profile, origin: Origin, body: &[u8], headers: &[(String, String)]) -> Reading {
        let received_at: Timestamp = ARRIVAL.parse().unwrap();
        let stored = Stored {
            source: &self.name,
            origin,
            body,
            headers: &headers,
            event_type: None,
            event_key: "key",
            received_at,
        };
        profile.read(&stored, &|kind| self.flows.get(kind))
    }
}

/// The headers of a sample, with the query where the receiver puts it.
fn headers(sample: &Value) -> Vec<(String, String)> {
    let named = sample["headers"].as_object().unwrap();
    let mut headers: Vec<_> =
        named.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
    if let Some(query) = sample["query"].as_str() {
        headers.push((QUERY.to_owned(), query.to_owned()));
    }
    headers
}

fn body(sample: &Value) -> &[u8] {
    sample["body"].as_str().unwrap().as_bytes()
}

/// What the reading is called in the samples.
fn name(reading: &Reading) -> &'static str {
    match reading {
        Reading::Fact { .. } => "fact",
        Reading::Fetch { .. } => "fetch",
        Reading::Ignored(_) => "ignored",
        Reading::Test(_) => "test",
        Reading::Malformed(_) => "malformed",
    }
}

fn compare(at: &str, reading: &Reading, expect: &Value) {
    assert_eq!(name(reading), expect["reading"], "{at}: {reading:?}");
    match reading {
        Reading::Fact { resource, fact } => {
            assert_eq!(resource.kind, expect["kind"], "{at}");
            assert_eq!(resource.id, expect["resource"], "{at}");
            compare_fact(at, fact, expect);
        }
        Reading::Fetch { resource, fetch, expect: status, .. } => {
            assert_eq!(resource.kind, expect["kind"], "{at}");
            assert_eq!(resource.id, expect["resource"], "{at}");
            assert_eq!(fetch, &expect["fetch"], "{at}");
            assert_eq!(status.as_deref(), expect["status"].as_str(), "{at}");
        }
        _ => {}
    }
}

fn compare_fact(at: &str, fact: &Fact, expect: &Value) {
    assert_eq!(fact.status, expect["status"], "{at}");
    if let Some(type_) = expect["type"].as_str() {
        assert_eq!(fact.event_type, type_, "{at}");
    }
    if let Some(instant) = expect["instant"].as_str() {
        let instant: Timestamp = instant.parse().unwrap();
        assert_eq!(fact.version.major, instant.as_microsecond(), "{at}");
    }
    let fields = serde_json::to_value(&fact.fields).unwrap();
    for (field, value) in expect["fields"].as_object().into_iter().flatten() {
        assert_eq!(&fields[field], value, "{at}: {field}");
    }
}

#[test]
fn each_request_is_read_as_it_says() {
    let mut read = 0;
    for provider in providers() {
        for sample in provider.requests().iter().filter(|sample| sample["expect"]["verified"] != false) {
            let at = format!("{}: {}", provider.name, sample["name"]);
            let (profile, headers) = (provider.profile(sample), headers(sample));
            let handshake = profile.handshake("POST", &headers.as_slice(), body(sample), 1 << 20);
            if sample["expect"]["reading"] == "handshake" {
                assert_eq!(
                    handshake.map(|found| u64::from(found.status)),
                    sample["expect"]["status"].as_u64(),
                    "{at}"
                );
                continue;
            }
            assert!(handshake.is_none(), "{at} is taken for a handshake");
            let incoming = Incoming { body: body(sample), headers: &headers.as_slice() };
            let envelopes = profile.envelopes(&incoming);
            let [envelope] = envelopes.as_slice() else { panic!("{at} gives {} events", envelopes.len()) };
            agree(&at, envelope, &sample["expect"]);
            let reading = provider.read(&profile, Origin::Webhook, &envelope.body, &headers);
            compare(&at, &reading, &sample["expect"]);
            read += 1;
        }
    }
    assert!(read >= 120, "only {read} requests were read");
}

/// What the receiver stores must be what the applier reads later.
fn agree(at: &str, envelope: &Envelope<'_>, expect: &Value) {
    for (stored, key) in [
        (envelope.event_type.as_deref(), "type"),
        (envelope.kind.as_deref(), "kind"),
        (envelope.resource_id.as_deref(), "resource"),
    ] {
        if let Some(expected) = expect[key].as_str() {
            assert_eq!(stored, Some(expected), "{at}: {key}");
        }
    }
}

#[test]
fn each_answer_of_an_api_is_read_as_it_says() {
    let mut read = 0;
    for provider in providers() {
        for sample in provider.answers() {
            let at = format!("{}: {}", provider.name, sample["name"]);
            let profile = provider.profile(sample);
            let reading = provider.read(&profile, Origin::Reconcile, body(sample), &[]);
            compare(&at, &reading, &sample["expect"]);
            read += 1;
        }
    }
    assert!(read >= 10, "only {read} answers were read");
}

#[test]
fn a_sale_that_a_list_tells_as_refunded_is_so_although_its_payment_is_told_as_of_later() {
    let providers = providers();
    let hotmart = providers.iter().find(|provider| provider.name == "hotmart").unwrap();
    let named = |samples: &[Value], name: &str| {
        let found = samples.iter().find(|sample| sample["name"] == name).unwrap();
        (found.clone(), hotmart.profile(found))
    };
    let (request, profile) = named(hotmart.requests(), "complete");
    let paid = hotmart.read(&profile, Origin::Webhook, body(&request), &headers(&request));
    let (answer, profile) = named(hotmart.answers(), "refunded, in the list");
    let refunded = hotmart.read(&profile, Origin::Reconcile, body(&answer), &[]);
    let (Reading::Fact { fact: paid, .. }, Reading::Fact { fact: refunded, .. }) = (paid, refunded) else {
        panic!("both are facts")
    };
    assert!(refunded.version < paid.version);
    for facts in [[&paid, &refunded], [&refunded, &paid]] {
        let flow = &hotmart.flows["order"];
        let row = decide(None, facts[0], flow).resource;
        assert_eq!(decide(Some(&row), facts[1], flow).resource.status, "refunded");
    }
}

#[test]
fn a_repetition_has_the_key_of_what_it_repeats_and_nothing_else_has() {
    for provider in providers() {
        let mut keys: BTreeMap<String, Option<String>> = BTreeMap::new();
        for sample in provider.requests() {
            let expect = &sample["expect"];
            if expect["verified"] == false || expect["reading"] == "handshake" {
                continue;
            }
            let (profile, headers) = (provider.profile(sample), headers(sample));
            let incoming = Incoming { body: body(sample), headers: &headers.as_slice() };
            let key = profile.envelopes(&incoming).into_iter().next().unwrap().dedup_key;
            let at = format!("{}: {}", provider.name, sample["name"]);
            match sample["same_key_as"].as_str() {
                Some(original) => assert_eq!(Some(&key), keys.get(original), "{at}"),
                // The same request under other options has the same key by right.
                None if sample.get("options").is_none() && expect["reading"] == "fact" => {
                    let taken = key.is_some() && keys.values().any(|other| *other == key);
                    assert!(!taken, "{at} has the key of another event: {key:?}");
                }
                None => {}
            }
            keys.insert(sample["name"].as_str().unwrap().to_owned(), key);
        }
    }
}
