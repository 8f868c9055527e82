//! Laws that hold for every kind: what is signed verifies, and nothing else does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::{prelude::*, test_runner::FileFailurePersistence};
use secrecy::SecretString;
use signature::{Key, KeyError, Message, Refusal, Request, Scheme, SchemeError, SchemeSpec, Signed, Target};

const NOW: i64 = 1_767_323_045;

/// Symmetric kinds that cover the body, in every grammar and location.
const SIGNING: [&str; 11] = [
    "kind = 'hmac'\nheader = 'x-s'\nprefix = 'sha256='",
    "kind = 'hmac'\nheader = 'x-s'\nalgorithm = 'hmac-sha1'\nencoding = 'base64'\ntext = '{timestamp}{body}'\n\
     timestamp = { from = 'header:x-t', tolerance_seconds = 60 }",
    "kind = 'hmac'\nheader = 'x-s'\nalgorithm = 'hmac-sha512'\nencoding = 'base64url'\ntext = '{method}|{path}|{body}'",
    "kind = 'hmac'\nheader = 'x-s'\nformat = 'pairs'\nkeys = ['v1']\ntimestamp_key = 't'\ntext = '{timestamp}.{body}'\n\
     timestamp = { tolerance_seconds = 300 }",
    "kind = 'hmac'\nheader = 'x-s'\nformat = 'pairs'\nseparator = ';'\nassign = ':'\nkeys = ['h1']\ntimestamp_key = 'ts'\n\
     text = '{timestamp}:{body}'\ntimestamp = { unit = 'milliseconds', tolerance_seconds = 5, sides = 'past' }",
    "kind = 'hmac'\nheader = 'x-s'\nformat = 'list'\nversions = ['v1']\nencoding = 'base64'\ntext = '{url}{body}'",
    "kind = 'hmac'\nquery = 'signature'\ntext = '{constant:id}{crc32}'",
    "kind = 'digest'\nheader = 'x-s'\ntext = '{secret}-{body}'",
    "kind = 'digest'\nheader = 'x-s'\nalgorithm = 'sha512'\nencoding = 'base64'\ntext = '{body}{secret|upper}'",
    "kind = 'standard-webhooks'",
    "kind = 'all-of'\nchecks = [{ kind = 'hmac', header = 'x-s' }, { kind = 'digest', header = 'x-d', text = '{secret}{body}' }]",
];

fn scheme(table: &str) -> Scheme {
    compile(table).unwrap()
}

fn compile(table: &str) -> Result<Scheme, SchemeError> {
    Scheme::compile(&toml::from_str::<SchemeSpec>(table).unwrap())
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

fn constants() -> Vec<(String, String)> {
    vec![("id".to_owned(), "WH-1".to_owned())]
}

fn target<'a>(constants: &'a [(String, String)], query: &'a str) -> Target<'a> {
    Target { method: "POST", path: "/in/x", query, url: "https://example.test/in/x", constants }
}

fn signed(scheme: &Scheme, key: &Key, body: &[u8]) -> Signed {
    let constants = constants();
    let message = Message { target: target(&constants, ""), ..Message::new("msg_1", NOW, body) };
    scheme.sign_all(&message, key).unwrap()
}

fn verdict(scheme: &Scheme, keys: &[Key], signed: &Signed, body: &[u8], now: i64) -> Result<usize, Refusal> {
    let constants = constants();
    let pairs: Vec<String> = signed.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let query = pairs.join("&");
    let request = Request::new(&signed.headers, body, now).to(target(&constants, &query));
    scheme.verify(&request, keys).map(|verified| verified.key_index)
}

/// The values that signing added, to be changed one by one.
fn values(signed: &mut Signed) -> impl Iterator<Item = &mut String> {
    signed.headers.iter_mut().chain(&mut signed.query).map(|(_, value)| value)
}

fn kept() -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig { failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(kept())]

    #[test]
    fn one_changed_byte_of_body_secret_or_signature_is_refused(
        kind in 0..SIGNING.len(),
        body in proptest::collection::vec(any::<u8>(), 1..200),
        text in "[a-z0-9]{8,40}",
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let scheme = scheme(SIGNING[kind]);
        let keys = [scheme.key(&secret(&text)).unwrap()];
        let mut made = signed(&scheme, &keys[0], &body);
        prop_assert_eq!(verdict(&scheme, &keys, &made, &body, NOW), Ok(0));

        let mut other_body = body.clone();
        other_body[at.index(body.len())] ^= flip;
        prop_assert_eq!(verdict(&scheme, &keys, &made, &other_body, NOW), Err(Refusal::Mismatch));

        // Another letter, not the same in another case: a kind may fold the case of its secret.
        let mut other = text.clone().into_bytes();
        let letter = &mut other[at.index(text.len())];
        *letter = if *letter == b'q' { b'7' } else { b'q' };
        let other = [scheme.key(&secret(std::str::from_utf8(&other).unwrap())).unwrap()];
        prop_assert_eq!(verdict(&scheme, &other, &made, &body, NOW), Err(Refusal::Mismatch));

        // The first half of each value: the last letter of base64 holds bits that mean nothing.
        let count = values(&mut made).count();
        let value = values(&mut made).nth(at.index(count)).unwrap();
        let place = at.index(value.len().div_ceil(2));
        let was = value.as_bytes()[place];
        let letter = if was.eq_ignore_ascii_case(&b'0') { "1" } else { "0" };
        value.replace_range(place..=place, letter);
        prop_assert!(verdict(&scheme, &keys, &made, &body, NOW).is_err());
    }

    #[test]
    fn every_live_secret_verifies_until_its_end(
        kind in 0..SIGNING.len(), which in 0usize..3, ends in -10i64..10,
    ) {
        let scheme = scheme(SIGNING[kind]);
        let texts = ["the newest secret", "the one before", "the oldest secret"];
        let mut keys: Vec<Key> = texts.iter().map(|text| scheme.key(&secret(text)).unwrap()).collect();
        let made = signed(&scheme, &keys[which], b"{}");
        prop_assert_eq!(verdict(&scheme, &keys, &made, b"{}", NOW), Ok(which));
        keys[which] = keys[which].clone().until(Some(NOW + ends));
        let result = verdict(&scheme, &keys, &made, b"{}", NOW);
        prop_assert_eq!(result, if ends >= 0 { Ok(which) } else { Err(Refusal::Mismatch) });
    }

    #[test]
    fn no_bytes_make_any_kind_panic_or_pass(
        kind in 0..SIGNING.len(),
        one in proptest::collection::vec(any::<u8>(), 0..120),
        two in proptest::collection::vec(any::<u8>(), 0..40),
        query in "[a-z=&%0-9]{0,40}",
    ) {
        let scheme = scheme(SIGNING[kind]);
        let keys = [scheme.key(&secret("a secret")).unwrap()];
        let names = ["x-s", "x-d", "x-t", "webhook-id", "webhook-timestamp", "webhook-signature"];
        let mut headers: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, one.as_slice())).collect();
        headers.push(("x-s", &two));
        let constants = constants();
        let request = Request::new(&headers, &one, NOW).to(target(&constants, &query));
        prop_assert!(scheme.verify(&request, &keys).is_err());
    }
}

#[test]
fn hexadecimal_is_read_in_either_case_in_every_kind() {
    for table in [SIGNING[0], SIGNING[3], SIGNING[4], SIGNING[6], SIGNING[7]] {
        let scheme = scheme(table);
        let keys = [scheme.key(&secret("a secret")).unwrap()];
        let mut made = signed(&scheme, &keys[0], b"{}");
        for value in values(&mut made) {
            let from = value.rfind(['=', ':']).map_or(0, |at| at + 1);
            value[from..].make_ascii_uppercase();
        }
        assert_eq!(verdict(&scheme, &keys, &made, b"{}", NOW), Ok(0), "{table}");
    }
}

#[test]
fn a_signed_time_is_bounded_on_the_sides_that_it_says() {
    for (table, tolerance, ahead) in
        [(SIGNING[1], 60, false), (SIGNING[3], 300, false), (SIGNING[4], 5, true)]
    {
        let scheme = scheme(table);
        let keys = [scheme.key(&secret("a secret")).unwrap()];
        let made = signed(&scheme, &keys[0], b"{}");
        let at = |now| verdict(&scheme, &keys, &made, b"{}", now);
        assert_eq!(at(NOW + tolerance), Ok(0));
        assert_eq!(at(NOW + tolerance + 1), Err(Refusal::Expired));
        assert_eq!(at(NOW - tolerance), Ok(0));
        assert_eq!(at(NOW - tolerance - 1), if ahead { Ok(0) } else { Err(Refusal::Expired) });
        assert_eq!(at(i64::MAX), Err(Refusal::Expired));
    }
}

#[test]
fn a_check_that_names_a_list_takes_only_that_list() {
    for second in ["kind = 'token', header = 'x-d'", "kind = 'standard-webhooks'"] {
        let table = format!(
            "kind = 'all-of'\nchecks = [{{ kind = 'hmac', header = 'x-s' }}, {{ {second}, secrets = 'door' }}]"
        );
        let scheme = scheme(&table);
        assert_eq!(scheme.groups(), ["door"]);
        let usual = scheme.key(&secret("the usual one")).unwrap();
        let door = scheme.group_key("door", &secret("the door's")).unwrap();
        let mut made = signed(&scheme, &usual, b"{}");
        let of_door = signed(&scheme, &door, b"{}");
        made.headers.retain(|(name, _)| name == "x-s");
        made.headers.extend(of_door.headers.into_iter().filter(|(name, _)| name != "x-s"));
        assert!(verdict(&scheme, &[usual.clone(), door.clone()], &made, b"{}", NOW).is_ok(), "{table}");
        assert!(verdict(&scheme, &[door.clone(), usual.clone()], &made, b"{}", NOW).is_ok(), "{table}");
        // One secret does not stand for the other, in its own list or in both.
        for keys in [vec![usual.clone()], vec![door.clone()]] {
            assert!(verdict(&scheme, &keys, &made, b"{}", NOW).is_err(), "{table}");
        }
        let swapped = [
            scheme.key(&secret("the door's")).unwrap(),
            scheme.group_key("door", &secret("the usual one")).unwrap(),
        ];
        assert!(verdict(&scheme, &swapped, &made, b"{}", NOW).is_err(), "{table}");
    }
}

#[test]
fn a_secret_of_a_list_that_its_check_cannot_read_is_a_fault() {
    let scheme = scheme(
        "kind = 'all-of'\nchecks = [{ kind = 'token', header = 'x-d' }, \
         { kind = 'hmac', header = 'x-s', key = 'hex', secrets = 'app' }]",
    );
    assert_eq!(scheme.group_key("app", &secret("no hex")).unwrap_err(), KeyError::Encoding("hexadecimal"));
    assert!(scheme.group_key("app", &secret("00ff")).is_ok());
    assert!(scheme.key(&secret("no hex")).is_ok());
}

#[test]
fn no_kind_takes_a_blank_secret() {
    let others =
        ["kind = 'token'\nheader = 'x'", "kind = 'bearer'", "kind = 'basic'", "kind = 'rsa'\nheader = 'x'"];
    for table in SIGNING.iter().chain(&others).chain(&["kind = 'ed25519'\nheader = 'x'"]) {
        for blank in ["", " ", "\n\t"] {
            assert_eq!(scheme(table).key(&secret(blank)).unwrap_err(), KeyError::Blank, "{table} {blank:?}");
        }
    }
    let prefixed = scheme("kind = 'token'\nheader = 'x'\nkey_prefix = 'whsec_'");
    assert_eq!(prefixed.key(&secret("whsec_")).unwrap_err(), KeyError::Blank);
}

#[test]
fn what_a_kind_or_format_does_not_read_is_refused() {
    for foreign in [
        "prehash = 'sha256'",
        "hash = 'sha256'",
        "keys = ['v1']",
        "timestamp_key = 't'",
        "assign = ':'",
        "separator = ';'",
        "versions = ['v1']",
        "version_separator = ','",
    ] {
        let result = compile(&format!("kind = 'hmac'\nheader = 'x'\n{foreign}"));
        assert!(matches!(result, Err(SchemeError::Foreign(..))), "{foreign}: {result:?}");
    }
    let token = compile("kind = 'token'\nheader = 'x'\ntext = '{body}'");
    assert!(matches!(token, Err(SchemeError::Foreign("text", _))));
}

#[test]
fn a_time_that_nobody_signed_is_no_bound() {
    let judged = "kind = 'hmac'\nheader = 'x'\ntimestamp = { from = 'header:x-t', tolerance_seconds = 60 }\n";
    assert!(matches!(compile(judged), Err(SchemeError::Time(_))));
    assert!(compile(&format!("{judged}text = '{{timestamp}}.{{body}}'")).is_ok());
    assert!(compile(&format!("{judged}text = '{{header:X-T}}.{{body}}'")).is_ok());
}

#[test]
fn a_header_counts_as_covered_only_where_its_value_is_signed() {
    let timed = scheme(SIGNING[1]);
    assert!(timed.covers_header("X-T") && timed.covers_header("x-t"));
    assert!(!timed.covers_header("x-s"), "the signature does not sign itself");
    let topic = scheme("kind = 'hmac'\nheader = 'x-s'\ntext = '{header:X-Topic}{body}'");
    assert!(topic.covers_header("x-TOPIC") && !topic.covers_header("x-other"));
    let either = scheme(
        "kind = 'any-of'\nchecks = [{ kind = 'hmac', header = 'x-s', text = '{header:x-topic}{body}' }, \
         { kind = 'hmac', header = 'x-s' }]",
    );
    assert!(!either.covers_header("x-topic"), "one check accepts without it");
}
