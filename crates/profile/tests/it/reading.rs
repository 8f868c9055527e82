//! Event to fact: status, version, fields, and every reason why there is none.

use domain::{Value, Version};
use jiff::Timestamp;
use profile::{Origin, Reading};

use crate::support::{ARRIVAL, fact, loja, loja_with, malformed, parse, read, read_at};

fn event(rest: &str) -> String {
    format!(r#"{{"id":"evt_1","type":"order.paid",{rest},"data":{{"id":"ped_1"}}}}"#)
}

fn with_data(data: &str) -> String {
    format!(r#"{{"id":"e","type":"order.paid","sequence":2,"data":{{"id":"ped_1",{data}}}}}"#)
}

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn an_event_becomes_a_fact_of_its_resource() {
    let body = r#"{"id":"evt_1","type":"order.paid","sequence":2,"occurred_at":"2026-01-02T03:04:05Z",
        "data":{"id":"ped_1","total_cents":12990,"currency":"BRL","customer_email":"a@example.com"}}"#;
    let Reading::Fact { resource, fact } = read(&loja(), body) else { panic!() };
    assert_eq!(resource.to_string(), "loja order ped_1");
    assert_eq!((fact.status.as_str(), fact.event_type.as_str()), ("paid", "order.paid"));
    assert_eq!(fact.event_key, "key");
    assert_eq!(fact.version, Version::new(2, 0));
    let fields: Vec<_> = fact.fields.into_iter().collect();
    assert_eq!(
        fields,
        [
            ("currency".to_owned(), Value::Text("BRL".to_owned())),
            ("customer_email".to_owned(), Value::Text("a@example.com".to_owned())),
            ("total_minor".to_owned(), Value::Integer(12990)),
        ]
    );
}

#[test]
fn each_event_type_has_its_status_and_others_are_ignored() {
    let profile = loja();
    for (type_, status) in [
        ("order.created", "created"),
        ("order.paid", "paid"),
        ("order.shipped", "shipped"),
        ("order.canceled", "canceled"),
        ("order.refunded", "refunded"),
    ] {
        let body = event(r#""sequence":1"#).replace("order.paid", type_);
        assert_eq!(fact(&profile, &body).status, status);
    }
    let unknown = r#"{"id":"e","type":"customer.created","data":{}}"#;
    let reason = r#"unknown event type "customer.created""#.to_owned();
    assert_eq!(read(&profile, unknown), Reading::Ignored(reason));
}

#[test]
fn what_lacks_a_type_or_a_resource_is_malformed_and_says_so() {
    let profile = loja();
    assert_eq!(malformed(&profile, "{}"), "`type` is missing");
    assert_eq!(malformed(&profile, r#"{"type":null}"#), "`type` is missing");
    assert_eq!(malformed(&profile, r#"{"type":"order.paid","sequence":1}"#), "`data.id` is missing");
    assert_eq!(malformed(&profile, "[]"), "the body is an empty list, not an event");
    assert_eq!(malformed(&profile, ""), "the body is empty, not an event");
    let repeated = malformed(&profile, r#"{"type":"a","type":"b"}"#);
    assert!(repeated.contains("key `type` is repeated"), "{repeated}");
    assert!(malformed(&profile, r#"{"type":["x"]}"#).contains("`type` is a list"));
}

#[test]
fn a_whole_number_is_a_sequence_and_everything_else_falls_back_to_the_instant() {
    let profile = loja();
    let at = r#","occurred_at":"2026-01-02T03:04:05Z""#;
    for (written, sequence) in [
        ("0", 0),
        ("2", 2),
        ("2.0", 2),
        ("2.000", 2),
        ("9007199254740993", 9_007_199_254_740_993),
        ("9223372036854775807", i64::MAX),
    ] {
        let fact = fact(&profile, &event(&format!(r#""sequence":{written}{at}"#)));
        assert_eq!(fact.version, Version::from_sequence(sequence).unwrap(), "{written}");
    }
    let fallback = Version::from_instant_below_sequences(instant("2026-01-02T03:04:05Z"), 2);
    for written in ["\"2\"", "-1", "2.5", "2e0", "null", "true", "[2]", "{}", "9223372036854775808", "1e400"]
    {
        let fact = fact(&profile, &event(&format!(r#""sequence":{written}{at}"#)));
        assert_eq!(fact.version, fallback, "{written}");
    }
}

#[test]
fn with_a_sequence_a_bad_instant_does_not_matter() {
    let profile = loja();
    for at in ["\"2026-01-02T03:04:05+00:00Z\"", "\"2099-01-01T00:00:00Z\"", "\"\"", "null", "{}"] {
        let fact = fact(&profile, &event(&format!(r#""sequence":2,"occurred_at":{at}"#)));
        assert_eq!(fact.version, Version::new(2, 0), "{at}");
    }
}

#[test]
fn without_a_sequence_a_bad_instant_is_malformed_and_named() {
    let profile = loja();
    for (at, part) in [
        ("\"2026-02-30T00:00:00Z\"", "2026-02-30"),
        ("\"2026-01-02T03:04:60Z\"", "`occurred_at`"),
        ("\"2026-01-02T03:04:05\"", "has no offset"),
        ("\"\"", "`occurred_at`"),
        ("null", "no instant at `occurred_at`"),
        ("[]", "is a list"),
        ("1767323045000000000", "neither seconds"),
        ("\"2099-01-01T00:00:00Z\"", "hours ahead of its arrival"),
    ] {
        let reason = malformed(&profile, &event(&format!(r#""occurred_at":{at}"#)));
        assert!(reason.contains(part), "{at}: {reason}");
    }
    assert!(malformed(&profile, &event(r#""x":1"#)).contains("no instant at `occurred_at`"));
}

#[test]
fn an_instant_may_be_ahead_of_its_arrival_by_the_tolerance() {
    let profile = loja();
    let read = |at: &str| {
        let body = event(&format!(r#""occurred_at":"{at}""#));
        read_at(&profile, Origin::Webhook, body.as_bytes(), "2026-01-01T00:00:00Z")
    };
    assert!(matches!(read("2026-01-02T00:00:00Z"), Reading::Fact { .. }));
    assert!(matches!(read("2026-01-02T00:00:01Z"), Reading::Malformed(_)));
}

#[test]
fn with_the_instant_as_criterion_rank_breaks_ties_and_the_clocks_precision_cuts() {
    let by_instant = r#"criterion = "instant""#;
    for (precision, cut) in [
        ("seconds", "2026-01-02T03:04:05Z"),
        ("milliseconds", "2026-01-02T03:04:05.987Z"),
        ("microseconds", "2026-01-02T03:04:05.987654Z"),
    ] {
        let toml = crate::support::LOJA
            .replace(r#"criterion = "sequence""#, by_instant)
            .replace(r#"precision = "microseconds""#, &format!("precision = {precision:?}"));
        let body = event(r#""sequence":9,"occurred_at":"2026-01-02T03:04:05.987654321Z""#);
        let version = fact(&parse(&toml), &body).version;
        assert_eq!(version, Version::from_instant(instant(cut), 2), "{precision}");
    }
    let by_rank = loja_with(r#"criterion = "sequence""#, r#"criterion = "rank""#);
    assert_eq!(fact(&by_rank, &event(r#""x":1"#)).version, Version::new(0, 2));
}

#[test]
fn instants_are_tried_in_order_each_with_its_own_spelling() {
    let places =
        r#"instant = [{ path = "gmt", zone = "UTC" }, "local", { path = "ms", epoch = "milliseconds" }]"#;
    let toml = crate::support::LOJA
        .replace(r#"instant = "occurred_at""#, places)
        .replace("precision =", "zone = \"America/Sao_Paulo\"\nprecision =");
    let profile = parse(&toml);
    let expected = Version::from_instant_below_sequences(instant("2026-01-02T03:04:05Z"), 2);
    for written in [
        r#""gmt":"2026-01-02T03:04:05","local":"nonsense""#,
        r#""gmt":null,"local":"2026-01-02T00:04:05""#,
        r#""ms":1767323045000"#,
    ] {
        assert_eq!(fact(&profile, &event(written)).version, expected, "{written}");
    }
    assert!(malformed(&profile, &event(r#""ms":1767323045"#)).contains("magnitude"));
}

#[test]
fn null_and_absent_fields_are_no_information() {
    let profile = loja();
    assert!(fact(&profile, &with_data(r#""total_cents":null,"customer_email":null"#)).fields.is_empty());
    assert!(fact(&profile, &with_data(r#""x":1"#)).fields.is_empty());
}

#[test]
fn a_field_of_another_type_makes_the_event_malformed_by_its_path() {
    let profile = loja();
    for (data, path) in [
        (r#""total_cents":"12990""#, "`data.total_cents`"),
        (r#""total_cents":99999999999999999999"#, "`data.total_cents`"),
        (r#""total_cents":129.90"#, "`data.total_cents`"),
        (r#""total_cents":true"#, "`data.total_cents`"),
        (r#""currency":true"#, "`data.currency`"),
        (r#""customer_email":["a@example.com"]"#, "`data.customer_email`"),
        (r#""customer_email":"\udc00""#, "`data.customer_email`"),
    ] {
        let reason = malformed(&profile, &with_data(data));
        assert!(reason.contains(path), "{data}: {reason}");
    }
    let whole = fact(&profile, &with_data(r#""total_cents":12990.0"#));
    assert_eq!(whole.fields["total_minor"], Value::Integer(12990));
}

#[test]
fn texts_lose_nul_and_nothing_else() {
    let profile = loja();
    for (written, text) in [
        (r"sem\u0000nome", "semnome"),
        (r"C:\\u0000x", r"C:\u0000x"),
        (r#"{\"x\":\"\\u0000\"}"#, r#"{"x":"\u0000"}"#),
        (r"Ana \ud83d\ude00 \uD83C\uDDE7\uD83C\uDDF7 😀", "Ana 😀 🇧🇷 😀"),
        (r"Jos\u00e9 da Conceição", "José da Conceição"),
    ] {
        let fact = fact(&profile, &with_data(&format!(r#""customer_email":"{written}""#)));
        assert_eq!(fact.fields["customer_email"], Value::Text(text.to_owned()), "{written}");
    }
}

#[test]
fn a_test_event_never_becomes_a_fact() {
    let marks = "[[event.test]]\nwhere = \"test\"\nequals = \"true\"\n\n[event.fields]";
    let profile = loja_with("[event.fields]", marks);
    for mark in ["true", "\"true\"", "\"TRUE\""] {
        let reading = read(&profile, &event(&format!(r#""sequence":1,"test":{mark}"#)));
        assert!(matches!(reading, Reading::Test(_)), "{mark}: {reading:?}");
    }
    fact(&profile, &event(r#""sequence":1,"test":false"#));
}

#[test]
fn a_status_or_kind_without_flow_is_malformed() {
    let profile = loja_with(r#"kind = "order""#, r#"kind = "sale""#);
    assert!(
        malformed(&profile, &event(r#""sequence":1"#)).contains("no flow is configured for kind \"sale\"")
    );
    let profile = loja_with(r#""order.paid" = "paid""#, r#""order.paid" = "settled""#);
    assert!(malformed(&profile, &event(r#""sequence":1"#)).contains("has no status \"settled\""));
}

#[test]
fn an_item_of_the_api_is_read_by_its_own_rules() {
    let profile = loja();
    let item = r#"{"id":"ped_1","status":"open","updated_at":"2026-01-02T03:04:05Z","total_cents":5}"#;
    for origin in [Origin::Reconcile, Origin::Backfill] {
        let reading = read_at(&profile, origin, item.as_bytes(), ARRIVAL);
        let Reading::Fact { resource, fact } = reading else { panic!("{reading:?}") };
        assert_eq!((resource.id.as_str(), fact.status.as_str()), ("ped_1", "created"));
        assert_eq!(fact.event_type, "api.order");
        let version = Version::from_instant_below_sequences(instant("2026-01-02T03:04:05Z"), 1);
        assert_eq!(fact.version, version);
    }
    let unknown = item.replace("open", "archived");
    let reading = read_at(&profile, Origin::Reconcile, unknown.as_bytes(), ARRIVAL);
    assert_eq!(reading, Reading::Ignored(r#"unknown status "archived""#.to_owned()));
}

/// What a provider sends may be a form in Latin-1; what its API answers is JSON all the same.
#[test]
fn how_bodies_are_written_says_nothing_about_the_api() {
    let profile = loja_with("[receive]", "[receive]\nbody = \"form\"\ncharset = \"iso-8859-1\"");
    let item = r#"{"id":"ped_1","status":"paid","sequence":2,"updated_at":"2026-01-02T03:04:05Z","customer_email":"josé@example.com"}"#;
    let reading = read_at(&profile, Origin::Reconcile, item.as_bytes(), ARRIVAL);
    let Reading::Fact { fact, .. } = reading else { panic!("{reading:?}") };
    assert_eq!(fact.status, "paid");
    assert!(format!("{fact:?}").contains("josé@example.com"), "{fact:?}");
}
