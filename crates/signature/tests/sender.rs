//! A sender takes from a source's secrets, for each check, the one that a verifier will take.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use secrecy::SecretString;
use signature::{Key, Message, Request, Scheme, SchemeSpec, SignError};

const BOTH: &str = r#"
kind = "all-of"
checks = [
  { kind = "hmac", header = "x-signature" },
  { kind = "token", header = "x-token", secrets = "tokens" },
]
"#;

fn scheme(table: &str) -> Scheme {
    Scheme::compile(&toml::from_str::<SchemeSpec>(table).unwrap()).unwrap()
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

/// Signs with these keys and verifies with them, at this second.
fn holds(scheme: &Scheme, keys: &[Key], now: i64) -> bool {
    let signed = scheme.sign_with(&Message::new("m", now, b"{}"), keys).unwrap();
    scheme.verify(&Request::new(&signed.headers, b"{}", now), keys).is_ok()
}

#[test]
fn each_check_is_signed_with_a_secret_of_its_own_list() {
    let scheme = scheme(BOTH);
    let usual = scheme.key(&secret("usual")).unwrap();
    let token = scheme.group_key("tokens", &secret("token")).unwrap();
    for keys in [[usual.clone(), token.clone()], [token.clone(), usual.clone()]] {
        assert!(holds(&scheme, &keys, 0));
        let signed = scheme.sign_with(&Message::new("m", 0, b"{}"), &keys).unwrap();
        assert!(signed.headers.contains(&("x-token".to_owned(), "token".to_owned())), "{signed:?}");
    }
    let lacking = scheme.sign_with(&Message::new("m", 0, b"{}"), &[usual]);
    assert_eq!(lacking, Err(SignError::NoKey));
}

#[test]
fn a_secret_that_has_ended_signs_nothing() {
    let scheme = scheme("kind = \"hmac\"\nheader = \"x-signature\"\n");
    let old = scheme.key(&secret("old")).unwrap().until(Some(9));
    let new = scheme.key(&secret("new")).unwrap();
    let keys = [old, new.clone()];
    assert!(holds(&scheme, &keys, 9) && holds(&scheme, &keys, 10));
    let by_new = scheme.sign_with(&Message::new("m", 10, b"{}"), &[new]).unwrap();
    assert_eq!(scheme.sign_with(&Message::new("m", 10, b"{}"), &keys).unwrap(), by_new);
    assert_ne!(scheme.sign_with(&Message::new("m", 9, b"{}"), &keys).unwrap(), by_new);
    let [old, _] = keys;
    assert_eq!(scheme.sign_with(&Message::new("m", 10, b"{}"), &[old]), Err(SignError::NoKey));
}

#[test]
fn of_several_checks_the_first_that_can_be_met_is() {
    let scheme = scheme(
        "kind = \"any-of\"\nchecks = [\n{ kind = \"hmac\", header = \"a\", text = \"{query:id}{body}\" },\n\
         { kind = \"hmac\", header = \"b\" } ]\n",
    );
    let keys = [scheme.key(&secret("usual")).unwrap()];
    assert!(holds(&scheme, &keys, 0));
    let unsigned = self::scheme("kind = \"unsigned\"\nbecause = \"it is\"\n");
    assert_eq!(unsigned.sign_with(&Message::new("m", 0, b"{}"), &keys), Err(SignError::Unsigned));
    assert_eq!(unsigned.sign_with(&Message::new("m", 0, b"{}"), &[]), Err(SignError::Unsigned));
}
