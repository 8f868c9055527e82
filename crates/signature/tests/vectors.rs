//! Every stored vector: what a provider (or its own library) signed is accepted, everything else is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;

use secrecy::SecretString;
use serde::Deserialize;
use signature::{Message, Request, Scheme, SchemeSpec};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    id: String,
    verify: SchemeSpec,
    secret: String,
    headers: BTreeMap<String, String>,
    body: String,
    valid: bool,
    #[serde(default)]
    now: i64,
    signature: Option<String>,
}

fn vectors() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut vectors = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        vectors.extend(serde_json::from_str::<Vec<Vector>>(&text).unwrap());
    }
    assert!(vectors.len() >= 20, "only {} vectors found", vectors.len());
    vectors
}

#[test]
fn each_vector_is_accepted_or_refused_as_it_says() {
    for vector in vectors() {
        let scheme = Scheme::compile(&vector.verify).unwrap();
        let keys = [scheme.key(&SecretString::from(vector.secret.as_str())).unwrap()];
        let headers: Vec<_> = vector.headers.iter().collect();
        let request = Request::new(&headers, vector.body.as_bytes(), vector.now);
        let verdict = scheme.verify(&request, &keys);
        assert_eq!(verdict.is_ok(), vector.valid, "{}: {verdict:?}", vector.id);
    }
}

#[test]
fn signing_gives_the_value_that_the_provider_gives() {
    let mut checked = 0;
    for vector in vectors() {
        let Some(expected) = vector.signature else { continue };
        let scheme = Scheme::compile(&vector.verify).unwrap();
        let key = scheme.key(&SecretString::from(vector.secret.as_str())).unwrap();
        let id = vector.headers.get("webhook-id").map_or("", String::as_str);
        let message = Message::new(id, vector.now, vector.body.as_bytes());
        let signed = scheme.sign(&message, &key).unwrap();
        assert_eq!(signed.last().unwrap().1, expected, "{}", vector.id);
        checked += 1;
    }
    assert!(checked >= 6);
}
