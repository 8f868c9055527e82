//! Rules, places and bodies of profiles that use more of the format than `loja` does.

use profile::{Envelope, Incoming, KeptHeaders, Origin, Profile, Reading, Stored};
use proptest::prelude::*;

use crate::support::{ARRIVAL, flow, parse};

/// The parts that every profile here has, around its own lines.
fn profile(receive: &str, event: &str) -> String {
    format!(
        r#"
name = "Test"
[verify]
kind = "hmac"
header = "x-signature"
algorithm = "hmac-sha256"
encoding = "hex"
[receive]
{receive}
[event]
kind = "order"
type = "type"
resource = "id"
instant = "at"
{event}
[dedup]
keys = [["key"]]
[version]
criterion = "instant"
"#
    )
}

fn faults(receive: &str, event: &str) -> Vec<String> {
    let faults = Profile::parse("test.toml", &profile(receive, event)).unwrap_err();
    faults.iter().map(ToString::to_string).collect()
}

type Headers = [(&'static str, &'static str)];

/// Reads as the applier does: with what the inbox keeps of the request, and nothing else.
fn read_stored(profile: &Profile, envelope: &Envelope<'_>, headers: &Headers) -> Reading {
    let kept = KeptHeaders::parse(profile.keep(&headers.to_vec()).as_deref());
    let flow = flow();
    let stored = Stored {
        source: "test",
        origin: Origin::Webhook,
        body: &envelope.body,
        headers: &kept,
        event_type: None,
        event_key: "key",
        received_at: ARRIVAL.parse().unwrap(),
    };
    profile.read(&stored, &|_| Some(&flow))
}

fn read_all(profile: &Profile, body: &[u8], headers: &Headers) -> Vec<(Option<String>, Reading)> {
    let headers_ = headers.to_vec();
    let envelopes = profile.envelopes(&Incoming { body, headers: &headers_ });
    let read = |envelope: &Envelope<'_>| {
        let id = envelope.resource_id.as_ref().map(ToString::to_string);
        (id, read_stored(profile, envelope, headers))
    };
    envelopes.iter().map(read).collect()
}

fn read(profile: &Profile, body: &str) -> Reading {
    read_all(profile, body.as_bytes(), &[]).remove(0).1
}

fn status(profile: &Profile, type_: &str) -> Option<String> {
    let body = format!(r#"{{"type":"{type_}","id":"1","at":"2026-01-02T03:04:05Z"}}"#);
    match read(profile, &body) {
        Reading::Fact { fact, .. } => Some(fact.status),
        _ => None,
    }
}

fn fields(profile: &Profile, more: &str) -> Result<String, Box<Reading>> {
    let body = format!(r#"{{"type":"a","id":"1","at":"2026-01-02T03:04:05Z"{more}}}"#);
    match read(profile, &body) {
        Reading::Fact { fact, .. } => Ok(format!("{:?}", fact.fields)),
        other => Err(Box::new(other)),
    }
}

const ONE_STATUS: &str = "status = { a = \"paid\" }\n";

#[test]
fn in_a_table_of_statuses_the_exact_type_wins_and_then_the_longest_beginning() {
    let profile = parse(&profile(
        "",
        r#"status = { "*" = "created", "order.*" = "shipped", "order.paid" = "paid", "order.pay*" = "canceled" }"#,
    ));
    for (type_, expected) in [
        ("order.paid", "paid"),
        ("order.paying", "canceled"),
        ("order.sent", "shipped"),
        ("other", "created"),
    ] {
        assert_eq!(status(&profile, type_).as_deref(), Some(expected), "{type_}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let profile = parse(&profile(
        "",
        r#"
[[event.rules]]
types = ["a"]
when = "body.n > 1"
status = "paid"
[[event.rules]]
types = ["a*"]
status = "created"
"#,
    ));
    let body = |n| format!(r#"{{"type":"a","id":"1","at":"2026-01-02T03:04:05Z","n":{n}}}"#);
    for (n, expected) in [("2", "paid"), ("1", "created"), ("\"x\"", "created"), ("null", "created")] {
        let Reading::Fact { fact, .. } = read(&profile, &body(n)) else { panic!("{n} is no fact") };
        assert_eq!(fact.status, expected, "{n}");
    }
    assert_eq!(status(&profile, "ab").as_deref(), Some("created"));
    assert_eq!(status(&profile, "b"), None);
}

#[test]
fn a_star_stands_only_at_the_end_of_a_type() {
    for types in [r#"["a*b"]"#, r#"["*.paid"]"#] {
        let faults = faults("", &format!("[[event.rules]]\ntypes = {types}\nstatus = \"paid\""));
        assert!(faults.iter().any(|fault| fault.contains("event.rules[0].types")), "{faults:?}");
    }
}

#[test]
fn a_computed_place_knows_the_type() {
    let profile = parse(&profile(
        "",
        &format!("{ONE_STATUS}fields.mark = {{ cel = \"type + '!'\", type = \"text\" }}"),
    ));
    assert_eq!(fields(&profile, "").unwrap(), r#"{"mark": Text("a!")}"#);
}

#[test]
fn a_type_cannot_be_computed_from_itself() {
    let text = profile("", ONE_STATUS).replace("type = \"type\"", "type = { cel = \"type\" }");
    let faults = Profile::parse("test.toml", &text).unwrap_err();
    assert!(faults.iter().any(|fault| fault.key == "event.type"), "{faults:?}");
}

#[test]
fn a_number_with_a_default_stays_a_number() {
    let profile = parse(&profile(
        "",
        &format!(
            "{ONE_STATUS}fields.n = {{ path = \"n\", default = \"7\", type = \"integer\" }}\n\
             fields.b = {{ path = \"b\", default = \"false\", type = \"boolean\" }}"
        ),
    ));
    let both = |n, b| format!(r#"{{"b": Boolean({b}), "n": Integer({n})}}"#);
    assert_eq!(fields(&profile, r#","n":5,"b":true"#).unwrap(), both(5, true));
    assert_eq!(fields(&profile, "").unwrap(), both(7, false));
    assert!(fields(&profile, r#","n":"x""#).is_err());
}

#[test]
fn a_scale_does_not_hang_on_the_letter_case_of_a_currency() {
    let profile = parse(&profile(
        "",
        &format!(
            "{ONE_STATUS}fields.currency = {{ path = \"c\", type = \"text\" }}\n\
             fields.total = {{ path = \"t\", type = \"money_decimal\" }}"
        ),
    ));
    for (currency, amount, minor) in [("jpy", "\"100\"", 100), ("JPY", "100", 100), ("brl", "19.99", 1999)] {
        let shown = fields(&profile, &format!(r#","c":"{currency}","t":{amount}"#)).unwrap();
        assert!(shown.contains(&format!("Integer({minor})")), "{shown}");
    }
}

#[test]
fn amounts_with_absurd_exponents_are_set_aside() {
    let profile = parse(&profile(
        "",
        &format!(
            "{ONE_STATUS}fields.total = {{ path = \"t\", type = \"money_decimal\", \
             currency = {{ constant = \"BRL\" }} }}"
        ),
    ));
    for amount in ["1e-2147483648", "1e2147483647", "1e31", "0.001"] {
        let read = fields(&profile, &format!(r#","t":{amount}"#));
        let read = read.unwrap_err();
        assert!(matches!(*read, Reading::Malformed(_)), "{amount}: {read:?}");
    }
}

#[test]
fn everything_in_a_form_is_a_text_and_is_still_read_by_its_type() {
    let form = profile(
        "body = \"form\"",
        &format!(
            "{ONE_STATUS}fields.total = {{ path = \"d.total\", type = \"money_minor\" }}\n\
             fields.open = {{ path = \"d.open\", type = \"boolean\" }}"
        ),
    );
    let profile = parse(&form);
    let body = b"type=a&id=1&at=2026-01-02T03:04:05Z&d[total]=1200&d[open]=true";
    let Reading::Fact { fact, .. } = read_all(&profile, body, &[]).remove(0).1 else { panic!("no fact") };
    assert_eq!(format!("{:?}", fact.fields), r#"{"open": Boolean(true), "total": Integer(1200)}"#);
    let wrong = b"type=a&id=1&at=2026-01-02T03:04:05Z&d[total]=12.5";
    assert!(matches!(read_all(&profile, wrong, &[]).remove(0).1, Reading::Malformed(_)));
}

#[test]
fn in_json_a_text_is_no_number() {
    let profile =
        parse(&profile("", &format!("{ONE_STATUS}fields.n = {{ path = \"n\", type = \"integer\" }}")));
    assert!(fields(&profile, r#","n":"5""#).is_err());
}

const EVENT: &str = r#"{"type":"a","id":"José","at":"2026-01-02T03:04:05Z"}"#;

/// The text in Latin-1.
fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

/// The receiver and the applier name the same resource, whatever way the body is written.
fn assert_agrees(profile: &Profile, body: &[u8], headers: &Headers, events: usize) {
    let read = read_all(profile, body, headers);
    assert_eq!(read.len(), events);
    for (id, reading) in read {
        assert_eq!(id.as_deref(), Some("José"));
        let Reading::Fact { resource, .. } = reading else { panic!("{reading:?}") };
        assert_eq!(resource.id, "José");
    }
}

#[test]
fn the_applier_reads_what_the_receiver_read() {
    let plain = parse(&profile("", ONE_STATUS));
    let latin_profile = parse(&profile("charset = \"iso-8859-1\"", ONE_STATUS));
    let list = format!("[{EVENT},{EVENT}]");
    let named: &Headers = &[("content-type", "application/json; charset=ISO-8859-1")];
    let utf8: &Headers = &[("content-type", "application/json; charset=utf-8")];
    assert_agrees(&plain, EVENT.as_bytes(), &[], 1);
    assert_agrees(&plain, list.as_bytes(), &[], 2);
    assert_agrees(&plain, &latin(EVENT), named, 1);
    assert_agrees(&plain, &latin(&list), named, 2);
    assert_agrees(&latin_profile, &latin(EVENT), &[], 1);
    assert_agrees(&latin_profile, &latin(&list), &[], 2);
    assert_agrees(&latin_profile, EVENT.as_bytes(), utf8, 1);
    assert_agrees(&latin_profile, list.as_bytes(), utf8, 2);
    let odd = vec![("content-type", &b"application/json; x=\xff; charset=latin1"[..])];
    assert!(plain.keep(&odd).is_some_and(|kept| kept.contains("latin1")));
    let body = latin(EVENT);
    let envelopes = plain.envelopes(&Incoming { body: &body, headers: &odd });
    assert_eq!(envelopes[0].resource_id.as_deref(), Some("José"), "as the applier will read it");
    let wide: &Headers = &[("content-type", "application/json; charset=utf-16le")];
    let wide_list: Vec<u8> = list.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_agrees(&plain, &wide_list, wide, 2);
}

#[test]
fn a_list_inside_a_form_is_read_again_as_it_was_split() {
    let auto = parse(&profile("body = \"auto\"\nunwrap = \"payload\"", ONE_STATUS));
    let headers: &Headers = &[("content-type", "application/x-www-form-urlencoded")];
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let one = format!("payload={}", encode(EVENT));
    let two = format!("payload={}", encode(&format!("[{EVENT},{EVENT}]")));
    assert_agrees(&auto, one.as_bytes(), headers, 1);
    assert_agrees(&auto, two.as_bytes(), headers, 2);
}

#[test]
fn a_form_is_decoded_by_its_charset() {
    let latin_form = parse(&profile("body = \"form\"\ncharset = \"iso-8859-1\"", ONE_STATUS));
    assert_agrees(&latin_form, b"type=a&id=Jos%E9&at=2026-01-02T03:04:05Z", &[], 1);
    let form = parse(&profile("body = \"form\"", ONE_STATUS));
    assert_agrees(&form, b"type=a&id=Jos%C3%A9&at=2026-01-02T03:04:05Z", &[], 1);
    let broken = read_all(&form, b"type=a&id=Jos%E9&at=2026-01-02T03:04:05Z", &[]);
    assert!(matches!(&broken[0], (None, Reading::Malformed(_))), "half a letter names nobody: {broken:?}");
}

#[test]
fn splits_go_down_as_deep_as_the_profile_says() {
    let deep = parse(&profile("split = \"entry[].changes[].value\"", ONE_STATUS));
    let body = format!(
        r#"{{"entry":[{{"changes":[{{"value":{EVENT}}},{{"value":{EVENT}}}]}},{{"changes":[{{"value":{EVENT}}}]}}]}}"#
    );
    assert_agrees(&deep, body.as_bytes(), &[], 3);
    let flat = parse(&profile("split = \"items\"", ONE_STATUS));
    assert_agrees(&flat, format!(r#"{{"items":[{EVENT},{EVENT}]}}"#).as_bytes(), &[], 2);
    assert_agrees(&flat, EVENT.as_bytes(), &[], 1);
    let with_null = EVENT.replacen('{', r#"{"items":null,"#, 1);
    assert_agrees(&flat, with_null.as_bytes(), &[], 1);
    let many = format!(r#"{{"items":[{}1]}}"#, "1,".repeat(1000));
    assert_eq!(read_all(&flat, many.as_bytes(), &[]).len(), 1, "too many are stored whole");
}

#[test]
fn indexes_may_follow_each_other() {
    let nested = parse(&profile("", ONE_STATUS).replace("resource = \"id\"", "resource = \"ids[1][0]\""));
    let body = r#"{"type":"a","ids":[["x"],["José"]],"at":"2026-01-02T03:04:05Z"}"#;
    assert_agrees(&nested, body.as_bytes(), &[], 1);
    let empty = profile("", ONE_STATUS).replace("resource = \"id\"", "resource = \"ids[].x\"");
    assert!(Profile::parse("test.toml", &empty).is_err(), "[] is of splits, not of paths");
}

#[test]
fn an_empty_instant_gives_way_to_the_next() {
    let two = parse(&profile("", ONE_STATUS).replace("instant = \"at\"", "instant = [\"changed\", \"at\"]"));
    for changed in ["null", "\"\""] {
        let body = EVENT.replacen('{', &format!("{{\"changed\":{changed},"), 1);
        assert_agrees(&two, body.as_bytes(), &[], 1);
    }
}

#[test]
fn a_rule_that_is_off_is_checked_as_well() {
    let text = profile(
        "",
        "[[event.rules]]\noption = \"more\"\ntypes = [\"a\"]\nstatus = \"paid\"\nwhen = \"bodi.x\"",
    )
    .replace("name = \"Test\"", "name = \"Test\"\noptions = { more = \"More of it.\" }");
    let faults = Profile::parse("test.toml", &text).unwrap_err();
    assert!(faults.iter().any(|fault| fault.key == "event.rules[0].when"), "{faults:?}");
}

#[test]
fn what_could_never_work_is_a_fault() {
    let handshake = "[[receive.handshakes]]\nstatus = 200\nwhere = [{ query = \"x\", unsigned = true, present = true }]\n";
    for (receive, event, shown) in [
        ("unwrap = \"payload\"", ONE_STATUS, "receive.unwrap"),
        ("redact = [\"a..b\"]", ONE_STATUS, "receive.redact"),
        (&format!("{handshake}method = \"PUT\""), ONE_STATUS, "receive.handshakes[0].method"),
        ("", "[[event.rules]]\ntypes = [\"a\"]\nfetch = \"it\"", "event.rules[0].fetch"),
    ] {
        let faults = faults(receive, event);
        assert!(faults.iter().any(|fault| fault.contains(shown)), "{shown}: {faults:?}");
    }
    let refetch = profile("", ONE_STATUS).replace("criterion", "tie = \"refetch\"\ncriterion");
    let faults = Profile::parse("test.toml", &refetch).unwrap_err();
    assert!(faults.iter().any(|fault| fault.key == "version.tie"), "{faults:?}");
}

#[test]
fn each_fault_names_its_line() {
    let text = profile(
        "redact = [\"a..b\"]",
        "status = { \"a\" = \"paid\" }\nfields.n = { path = \"n..\", type = \"text\" }",
    );
    let faults = Profile::parse("test.toml", &text).unwrap_err();
    let line = |key: &str| text.lines().position(|line| line.starts_with(key)).unwrap() + 1;
    for (key, starts) in [("receive.redact", "redact"), ("event.fields.n", "fields.n")] {
        let fault = faults.iter().find(|fault| fault.key.starts_with(key)).unwrap();
        assert!(fault.to_string().contains(&format!("line {}", line(starts))), "{fault}");
    }
}

#[test]
fn an_empty_type_and_an_empty_reason_are_faults() {
    let told = |rule: &str| faults("", &format!("[[event.rules]]\n{rule}")).join("; ");
    assert!(told("types = [\"a\", \"\"]\nstatus = \"paid\"").contains("types: has an empty one"));
    assert!(told("types = [\"a\"]\nignore = \" \"").contains("ignore: is empty"));
}

#[test]
fn a_handshake_is_short_and_nothing_longer_is_inflated_for_it() {
    use std::io::Write as _;
    let greeting = parse(&profile(
        "[[receive.handshakes]]\nstatus = 200\nsigned = false\nwhere = [{ path = \"ping\", present = true }]",
        ONE_STATUS,
    ));
    let gzip = |text: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    };
    let headers = [("content-encoding", "gzip")];
    assert!(greeting.handshake("POST", &headers, &gzip(br#"{"ping":1}"#), usize::MAX).is_some());
    let bomb = format!(r#"{{"ping":1,"x":"{}"}}"#, "x".repeat(8 << 20));
    assert!(greeting.handshake("POST", &headers, &gzip(bomb.as_bytes()), usize::MAX).is_none());
}

proptest! {
    #[test]
    fn any_form_reads_the_same_in_the_receiver_and_in_the_applier(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let form = parse(&profile("body = \"form\"", ONE_STATUS));
        for (id, reading) in read_all(&form, &body, &[]) {
            if let Reading::Fact { resource, .. } = reading {
                prop_assert_eq!(Some(resource.id), id);
            }
        }
    }
}
