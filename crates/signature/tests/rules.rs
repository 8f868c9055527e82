//! The rules of reading a signature, one by one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::{prelude::*, test_runner::FileFailurePersistence};
use secrecy::SecretString;
use signature::{
    Algorithm, Encoding, Key, KeyError, KeyForm, Message, Refusal, Request, Scheme, SchemeSpec, SignedSpec,
    standard_webhooks,
};

const HEADER: &str = "X-Loja-Signature";
const BODY: &[u8] = b"{\"id\":\"evt_1\"}";

fn spec(prefix: &str, prefix_required: bool) -> SignedSpec {
    SignedSpec {
        header: Some(HEADER.to_owned()),
        prefix: prefix.to_owned(),
        prefix_required,
        ..SignedSpec::default()
    }
}

fn loja() -> Scheme {
    Scheme::compile(&SchemeSpec::Hmac(spec("sha256=", false))).unwrap()
}

fn key(scheme: &Scheme, secret: &str) -> Key {
    scheme.key(&SecretString::from(secret)).unwrap()
}

fn digest(scheme: &Scheme, key: &Key) -> String {
    let message = Message::new("", 0, BODY);
    scheme.sign(&message, key).unwrap().remove(0).1
}

fn verify(scheme: &Scheme, lines: &[&[u8]], keys: &[Key]) -> Result<usize, Refusal> {
    let headers: Vec<(&str, &[u8])> = lines.iter().map(|line| (HEADER, *line)).collect();
    let request = Request::new(&headers, BODY, 0);
    scheme.verify(&request, keys).map(|verified| verified.key_index)
}

#[test]
fn blanks_prefix_and_letter_case_do_not_matter() {
    let scheme = loja();
    let keys = [key(&scheme, "secret")];
    let hex = digest(&scheme, &keys[0]);
    for value in [
        hex.clone(),
        hex.to_uppercase(),
        format!("sha256={hex}"),
        format!(" sha256= {hex} "),
        format!("\t{hex}"),
        format!("{hex}, sha256={hex}"),
    ] {
        assert_eq!(verify(&scheme, &[value.as_bytes()], &keys), Ok(0), "{value:?}");
    }
}

#[test]
fn each_malformed_value_is_a_plain_refusal() {
    let scheme = loja();
    let keys = [key(&scheme, "secret")];
    let hex = digest(&scheme, &keys[0]);
    let cases: Vec<(Vec<u8>, Refusal)> = vec![
        (b"".to_vec(), Refusal::Malformed),
        (b"   ".to_vec(), Refusal::Malformed),
        (b"sha256=".to_vec(), Refusal::Malformed),
        (b"sha256".to_vec(), Refusal::Malformed),
        (b"sha256=abc".to_vec(), Refusal::Malformed),
        ([b"sha256=".as_slice(), &[b'z'; 64]].concat(), Refusal::Malformed),
        ("sha256=éééééééééééééééééééééééééééééééé".as_bytes().to_vec(), Refusal::Malformed),
        ([0xff; 64].to_vec(), Refusal::Malformed),
        (hex.as_bytes()[..62].to_vec(), Refusal::Malformed),
        (format!("{hex}00").into_bytes(), Refusal::Malformed),
        (vec![b'a'; 100_000], Refusal::Malformed),
        (format!("sha256=sha256={hex}").into_bytes(), Refusal::Malformed),
        (format!("{hex},").into_bytes(), Refusal::Malformed),
        (b"md5=00000000000000000000000000000000".to_vec(), Refusal::UnknownScheme),
        (format!("sha512={hex}").into_bytes(), Refusal::UnknownScheme),
        ([b'0'; 64].to_vec(), Refusal::Mismatch),
    ];
    for (value, refusal) in cases {
        let shown = String::from_utf8_lossy(&value[..value.len().min(80)]).into_owned();
        assert_eq!(verify(&scheme, &[&value], &keys), Err(refusal), "{shown:?}");
    }
    assert_eq!(verify(&scheme, &[], &keys), Err(Refusal::MissingHeader));
    assert_eq!(verify(&scheme, &[hex.as_bytes()], &[]), Err(Refusal::NoSecret));
}

#[test]
fn a_copied_header_line_counts_once_and_a_different_one_refuses() {
    let scheme = loja();
    let keys = [key(&scheme, "secret")];
    let hex = digest(&scheme, &keys[0]);
    let prefixed = format!("sha256={hex}");
    let other = "0".repeat(64);
    assert_eq!(verify(&scheme, &[hex.as_bytes(), hex.as_bytes()], &keys), Ok(0));
    assert_eq!(verify(&scheme, &[hex.as_bytes(), prefixed.as_bytes()], &keys), Ok(0));
    for lines in [[&hex, &other], [&other, &hex]] {
        let lines = lines.map(|line| line.as_bytes());
        assert_eq!(verify(&scheme, &lines, &keys), Err(Refusal::Malformed));
    }
    assert_eq!(verify(&scheme, &[hex.as_bytes(), b"junk", hex.as_bytes()], &keys), Err(Refusal::Malformed));
}

#[test]
fn any_live_secret_verifies_and_the_one_that_did_is_named() {
    let scheme = loja();
    let keys = [key(&scheme, "new"), key(&scheme, "old")];
    for (index, key) in keys.iter().enumerate() {
        let hex = digest(&scheme, key);
        assert_eq!(verify(&scheme, &[hex.as_bytes()], &keys), Ok(index));
    }
    let hex = digest(&scheme, &key(&scheme, "retired"));
    assert_eq!(verify(&scheme, &[hex.as_bytes()], &keys), Err(Refusal::Mismatch));
}

#[test]
fn a_required_prefix_is_required() {
    let scheme = Scheme::compile(&SchemeSpec::Hmac(spec("sha256=", true))).unwrap();
    let keys = [key(&scheme, "secret")];
    let signed = digest(&scheme, &keys[0]);
    let bare = signed.strip_prefix("sha256=").unwrap();
    assert_eq!(verify(&scheme, &[signed.as_bytes()], &keys), Ok(0));
    assert_eq!(verify(&scheme, &[bare.as_bytes()], &keys), Err(Refusal::Malformed));
    let sha1 = format!("sha1={bare}");
    assert_eq!(verify(&scheme, &[sha1.as_bytes()], &keys), Err(Refusal::UnknownScheme));
}

#[test]
fn every_algorithm_and_encoding_verifies_what_it_signs() {
    for algorithm in ["hmac-sha1", "hmac-sha256", "hmac-sha512"] {
        for encoding in [Encoding::Hex, Encoding::Base64] {
            let spec = SignedSpec { algorithm: Some(algorithm.to_owned()), encoding, ..spec("", true) };
            let scheme = Scheme::compile(&SchemeSpec::Hmac(spec)).unwrap();
            let keys = [key(&scheme, "secret")];
            let signed = digest(&scheme, &keys[0]);
            assert_eq!(verify(&scheme, &[signed.as_bytes()], &keys), Ok(0));
            let unpadded = signed.trim_end_matches('=');
            assert_eq!(verify(&scheme, &[unpadded.as_bytes()], &keys), Ok(0));
        }
    }
}

#[test]
fn a_secret_that_anybody_could_guess_or_that_is_misspelt_makes_no_key() {
    let blank = [("", KeyForm::Text), (" \n", KeyForm::Text), ("", KeyForm::Hex), (" ", KeyForm::Base64)];
    for (secret, form) in blank {
        let result = Key::new(Algorithm::HmacSha256, form, &SecretString::from(secret));
        assert_eq!(result.unwrap_err(), KeyError::Blank, "{secret:?}");
    }
    let odd = Key::new(Algorithm::HmacSha256, KeyForm::Hex, &SecretString::from("abc"));
    assert!(matches!(odd, Err(KeyError::Encoding(_))));
    for (secret, error) in [("whsec_", KeyError::Blank), ("whsec_%%%", KeyError::Encoding("base64"))] {
        assert_eq!(standard_webhooks::key(&SecretString::from(secret)).unwrap_err(), error);
    }
}

#[test]
fn a_key_never_shows_its_secret() {
    let shown = format!("{:?}", key(&loja(), "very secret"));
    assert_eq!(shown, "Key(redacted)");
}

#[test]
fn a_profile_with_an_impossible_header_or_prefix_is_refused() {
    let bad_header = SignedSpec { header: Some("x loja".to_owned()), ..spec("", true) };
    assert!(Scheme::compile(&SchemeSpec::Hmac(bad_header)).is_err());
    assert!(Scheme::compile(&SchemeSpec::Hmac(spec("sha256, ", true))).is_err());
    let unknown =
        "kind = \"hmac\"\nheader = \"x\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\nsalt = 1";
    assert!(toml::from_str::<SchemeSpec>(unknown).is_err());
}

mod standard {
    use super::*;

    const NOW: i64 = 1_767_323_045;

    fn verify_at(now: i64, headers: &[(&str, &str)]) -> Result<usize, Refusal> {
        let keys = [standard_webhooks::key(&SecretString::from("whsec_c2VjcmV0")).unwrap()];
        let request = Request::new(&headers, BODY, now);
        let verified = standard_webhooks::verify(&request, &keys, standard_webhooks::TOLERANCE_SECONDS);
        verified.map(|verified| verified.key_index)
    }

    fn signature() -> String {
        let key = standard_webhooks::key(&SecretString::from("whsec_c2VjcmV0")).unwrap();
        standard_webhooks::sign("msg_1", NOW, BODY, &key)
    }

    fn headers(signature: &str) -> [(&str, &str); 3] {
        [("Webhook-Id", "msg_1"), ("Webhook-Timestamp", "1767323045"), ("Webhook-Signature", signature)]
    }

    #[test]
    fn the_time_may_be_off_by_the_tolerance_either_way() {
        let signature = signature();
        for (now, result) in [
            (NOW - 301, Err(Refusal::Expired)),
            (NOW - 300, Ok(0)),
            (NOW + 300, Ok(0)),
            (NOW + 301, Err(Refusal::Expired)),
            (i64::MIN, Err(Refusal::Expired)),
        ] {
            assert_eq!(verify_at(now, &headers(&signature)), result);
        }
    }

    #[test]
    fn several_signatures_are_tried_and_other_versions_are_not() {
        let right = signature();
        let wrong = format!("v1,{}", "A".repeat(43));
        for (value, result) in [
            (format!("{wrong} {right}"), Ok(0)),
            (format!("v1a,xyz  {right} v1,"), Ok(0)),
            (wrong.clone(), Err(Refusal::Mismatch)),
            (right.replace("v1,", "v2,"), Err(Refusal::UnknownScheme)),
            (String::new(), Err(Refusal::Malformed)),
            ("v1".to_owned(), Err(Refusal::Malformed)),
            (format!("{} {right}", vec![wrong.as_str(); 500].join(" ")), Err(Refusal::Mismatch)),
        ] {
            assert_eq!(verify_at(NOW, &headers(&value)), result, "{}", &value[..value.len().min(99)]);
        }
    }

    #[test]
    fn missing_odd_and_contradicting_headers_are_refused() {
        let signature = signature();
        let all = headers(&signature);
        for missing in 0..3 {
            let mut some = all.to_vec();
            some.remove(missing);
            assert_eq!(verify_at(NOW, &some), Err(Refusal::MissingHeader));
        }
        for odd in ["", "-1767323045", "1767323045.5", "17673230451767323045", "now"] {
            let mut headers = all;
            headers[1].1 = odd;
            assert_eq!(verify_at(NOW, &headers), Err(Refusal::Malformed), "{odd:?}");
        }
        let twice = [all.as_slice(), &[("webhook-id", "msg_1")]].concat();
        assert_eq!(verify_at(NOW, &twice), Ok(0));
        let contradicting = [all.as_slice(), &[("webhook-id", "msg_2")]].concat();
        assert_eq!(verify_at(NOW, &contradicting), Err(Refusal::Malformed));
    }
}

/// A case that failed is kept beside this file: a test of one file has no root that proptest could find.
fn kept() -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig { failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(kept())]

    #[test]
    fn no_header_value_makes_it_panic_or_pass(
        lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 0..4)
    ) {
        let scheme = loja();
        let keys = [key(&scheme, "secret")];
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        prop_assert!(verify(&scheme, &lines, &keys).is_err());
    }

    #[test]
    fn what_is_signed_verifies_and_one_changed_byte_does_not(
        body in proptest::collection::vec(any::<u8>(), 1..300), at in any::<prop::sample::Index>(), flip in 1u8..
    ) {
        let scheme = loja();
        let keys = [key(&scheme, "secret")];
        let headers = scheme.sign(&Message::new("", 0, &body), &keys[0]).unwrap();
        let request = Request::new(&headers, &body, 0);
        prop_assert!(scheme.verify(&request, &keys).is_ok());
        let mut altered = body.clone();
        altered[at.index(body.len())] ^= flip;
        let request = Request::new(&headers, &altered, 0);
        prop_assert_eq!(scheme.verify(&request, &keys).unwrap_err(), Refusal::Mismatch);
    }
}

#[test]
fn a_secret_that_can_be_read_two_ways_signs_both_ways() {
    let encoded = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let count = |secret: &str| standard_webhooks::signing_keys(&SecretString::from(secret)).unwrap().len();
    assert_eq!(count(encoded), 2, "base64 of 24 bytes, or its text");
    assert_eq!(count(&format!("whsec_{encoded}")), 1);
    assert_eq!(count("segredo"), 1);
    assert_eq!(count("c2VncmVkbw=="), 1, "too short for a key");

    let keys = standard_webhooks::signing_keys(&SecretString::from(encoded)).unwrap();
    let signatures: Vec<String> =
        keys.iter().map(|key| standard_webhooks::sign("msg_1", 1, b"{}", key)).collect();
    let headers = [
        ("webhook-id", "msg_1".to_owned()),
        ("webhook-timestamp", "1".to_owned()),
        ("webhook-signature", signatures.join(" ")),
    ];
    let request = Request::new(&headers, b"{}", 1);
    for secret in [encoded.to_owned(), format!("whsec_{encoded}")] {
        let key = standard_webhooks::key(&SecretString::from(secret)).unwrap();
        assert!(standard_webhooks::verify(&request, &[key], 300).is_ok());
    }
}
