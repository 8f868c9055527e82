//! What a forger could try beside the plain flip of a byte, and secrets that must be faults at start.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretString;
use signature::{Key, KeyError, Message, Refusal, Request, Scheme, SchemeError, SchemeSpec, Target};

fn compile(table: &str) -> Result<Scheme, SchemeError> {
    Scheme::compile(&toml::from_str::<SchemeSpec>(table).unwrap())
}

fn scheme(table: &str) -> Scheme {
    compile(table).unwrap()
}

fn key(scheme: &Scheme, secret: &str) -> Key {
    scheme.key(&SecretString::from(secret)).unwrap()
}

fn fault(scheme: &Scheme, secret: &str) -> KeyError {
    scheme.key(&SecretString::from(secret)).unwrap_err()
}

/// A PEM block.
fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

const OPTIONAL: &str = r#"
kind = "hmac"
header = "x-signature"
text = [{ text = "id:{query:id};", optional = true }, { text = "topic:{header:x-topic};", optional = true }, "{body}"]
"#;

/// The second value makes nobody's copy "missing": the segment would drop out, and the reader believe the first.
#[test]
fn a_contradiction_does_not_take_an_optional_segment_out() {
    let scheme = scheme(OPTIONAL);
    let keys = [key(&scheme, "secret")];
    let signed = scheme.sign(&Message::new("", 0, b"{}"), &keys[0]).unwrap();
    assert!(scheme.verify(&Request::new(&signed, b"{}", 0), &keys).is_ok());
    for query in ["id=1&id=2", "id=1"] {
        let target = Target { query, ..Target::default() };
        assert!(scheme.verify(&Request::new(&signed, b"{}", 0).to(target), &keys).is_err(), "{query}");
    }
    for topics in [["a", "b"].as_slice(), &["a"]] {
        let mut headers = signed.clone();
        headers.extend(topics.iter().map(|topic| ("x-topic".to_owned(), (*topic).to_owned())));
        assert!(scheme.verify(&Request::new(&headers, b"{}", 0), &keys).is_err(), "{topics:?}");
    }
}

const FIELDS: &str = r#"
kind = "hmac"
json = "extra.signature"
text = "{json:id}:{json:amounts[0].value}:{json:note}"
"#;

#[test]
fn a_field_that_comes_twice_or_grows_into_an_object_is_refused() {
    let scheme = scheme(FIELDS);
    let keys = [key(&scheme, "secret")];
    let plain = r#"{"id":"a","amounts":[{"value":10}]"#;
    let message = format!("{plain}}}");
    let signature =
        scheme.sign_all(&Message::new("", 0, message.as_bytes()), &keys[0]).unwrap().json.remove(0).1;
    let verdict = |fields: &str| {
        let body = format!(r#"{fields},"extra":{{"signature":"{signature}"}}}}"#);
        scheme.verify(&Request::new(&(), body.as_bytes(), 0), &keys)
    };
    assert!(verdict(plain).is_ok());
    assert!(verdict(&format!(r#"{plain},"note":null"#)).is_ok());
    for (fields, refusal) in [
        (format!(r#"{plain},"note":{{}}"#), Refusal::Malformed),
        (format!(r#"{plain},"note":"","note":"x""#), Refusal::Malformed),
        (plain.replace(r#""id":"a""#, r#""id":"b","id":"a""#), Refusal::Malformed),
        (plain.replace(r#""id":"a""#, r#""id":"b","\u0069d":"a""#), Refusal::Malformed),
        (plain.replace("10", "10.0"), Refusal::Mismatch),
        (plain.replace(r#"[{"value":10}]"#, r#"[{"value":11},{"value":10}]"#), Refusal::Mismatch),
    ] {
        assert_eq!(verdict(&fields).unwrap_err(), refusal, "{fields}");
    }
}

#[test]
fn a_number_is_signed_as_it_stands() {
    let scheme = scheme("kind = \"hmac\"\nheader = \"x\"\ntext = \"{json:n}\"");
    for number in ["18446744073709551617", "1.10", "1e2", "-0"] {
        let body = format!(r#"{{"n":{number}}}"#);
        let text = scheme.string_to_sign(&Request::new(&(), body.as_bytes(), 0)).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), number);
    }
}

#[test]
fn words_before_a_token_keep_their_blank() {
    for (table, secret, expected) in [
        ("kind = \"basic\"", "user:pass", "Basic dXNlcjpwYXNz"),
        ("kind = \"bearer\"", "abc", "Bearer abc"),
        ("kind = \"token\"\nheader = \"authorization\"\nprefix = \"Token \"", "abc", "Token abc"),
    ] {
        let scheme = scheme(table);
        let keys = [key(&scheme, secret)];
        let signed = scheme.sign(&Message::new("", 0, b""), &keys[0]).unwrap();
        assert_eq!(signed[0].1, expected);
        let verdict = |value: &str| scheme.verify(&Request::new(&[("Authorization", value)], b"", 0), &keys);
        assert!(verdict(expected).is_ok());
        let (word, token) = expected.split_once(' ').unwrap();
        assert!(verdict(&format!("{}  {token}", word.to_uppercase())).is_ok());
        for wrong in [format!("{word}{token}"), token.to_owned(), word.to_owned(), format!("{word} {token}x")]
        {
            assert!(verdict(&wrong).is_err(), "{wrong}");
        }
    }
}

#[test]
fn rsa_takes_a_public_key_or_a_certificate_and_refuses_the_rest() {
    let scheme = scheme("kind = \"rsa\"\nheader = \"x-signature\"\nencoding = \"base64\"");
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), b"{}", &mut signature).unwrap();
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    let keys = [key(&scheme, &pem("PUBLIC KEY", der.as_ref()))];
    let headers = [("x-signature", STANDARD.encode(&signature))];
    assert!(scheme.verify(&Request::new(&headers, b"{}", 0), &keys).is_ok());
    assert_eq!(scheme.verify(&Request::new(&headers, b"{ }", 0), &keys).unwrap_err(), Refusal::Mismatch);
    signature[7] ^= 1;
    let headers = [("x-signature", STANDARD.encode(&signature))];
    assert_eq!(scheme.verify(&Request::new(&headers, b"{}", 0), &keys).unwrap_err(), Refusal::Mismatch);
    let raw = pem("RSA PUBLIC KEY", pair.public_key().as_ref());
    assert!(scheme.key(&SecretString::from(raw)).is_ok());
    assert!(scheme.key(&SecretString::from(include_str!("keys/certificate.pem"))).is_ok());
    for wrong in [
        pem("PUBLIC KEY", b"junk"),
        pem("CERTIFICATE", b"junk"),
        pem("PRIVATE KEY", der.as_ref()),
        "x".into(),
    ] {
        assert!(matches!(fault(&scheme, &wrong), KeyError::Encoding(_)), "{wrong}");
    }
}

#[test]
fn a_certificate_verifies_what_its_key_signed() {
    let scheme = scheme("kind = \"rsa\"\nheader = \"x-signature\"\nencoding = \"base64\"");
    let keys = [key(&scheme, include_str!("keys/certificate.pem"))];
    let signature: String = include_str!("keys/signature.base64").split_whitespace().collect();
    let headers = [("x-signature", signature)];
    assert!(
        scheme.verify(&Request::new(&headers, b"signed by the key of the certificate", 0), &keys).is_ok()
    );
    assert!(scheme.verify(&Request::new(&headers, b"signed by another", 0), &keys).is_err());
}

#[test]
fn ed25519_takes_the_public_key_in_every_form_and_no_private_one() {
    let pair = Ed25519KeyPair::generate().unwrap();
    let public = pair.public_key().as_ref();
    let spki: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    let headers = [("x-signature", STANDARD.encode(pair.sign(b"{}").as_ref()))];
    for (form, secret) in [
        ("hex", hex::encode(public)),
        ("base64", STANDARD.encode(public)),
        ("pem", pem("PUBLIC KEY", spki.as_ref())),
    ] {
        let scheme = scheme(&format!(
            "kind = \"ed25519\"\nheader = \"x-signature\"\nencoding = \"base64\"\nkey = \"{form}\""
        ));
        let keys = [key(&scheme, &secret)];
        assert!(scheme.verify(&Request::new(&headers, b"{}", 0), &keys).is_ok(), "{form}");
        assert!(scheme.verify(&Request::new(&headers, b"{ }", 0), &keys).is_err(), "{form}");
        assert!(scheme.sign(&Message::new("", 0, b"{}"), &keys[0]).is_err());
        let private = pair.to_pkcs8v1().unwrap();
        for wrong in
            [pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", private.as_ref()), "abcd".into()]
        {
            assert!(matches!(fault(&scheme, &wrong), KeyError::Encoding(_)), "{form} {wrong}");
        }
    }
}

#[test]
fn what_is_not_built_is_refused_in_every_kind_that_reads_it() {
    for kind in ["hmac", "rsa", "ed25519", "token"] {
        let table = format!("kind = \"{kind}\"\nheader = \"x\"\ncertificate_url_header = \"x-cert\"");
        assert!(matches!(compile(&table), Err(SchemeError::NotYet(_))), "{kind}");
    }
}

#[test]
fn templates_that_cannot_be_filled_are_faults_when_compiled() {
    for text in [
        "{bodi}",
        "{body",
        "body}",
        "{}",
        "{header:}",
        "{json:a..b}",
        "{json:a[x]}",
        "{body|trim}",
        "{secret}",
        "",
    ] {
        let table = format!("kind = \"hmac\"\nheader = \"x\"\ntext = \"{text}\"");
        assert!(compile(&table).is_err(), "{text:?}");
    }
    assert!(compile("kind = \"digest\"\nheader = \"x\"\ntext = \"{body}\"").is_err());
    assert!(compile("kind = \"hmac\"\nheader = \"x\"\ntext = \"{timestamp}.{body}\"").is_err());
    assert!(compile("kind = \"hmac\"\njson = \"a..b\"").is_err());
}
