//! The stored failure cases of other systems, as far as they can be judged without a database.
//!
//! For every delivery to `loja`: is it verified as expected, into how many events does it fall, and is each of
//! them a fact, set aside, or ignored. The whole cases run against the database elsewhere.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use profile::{Incoming, Origin, Reading};
use secrecy::SecretString;
use serde_json::Value;
use signature::Request;

use crate::support::{ARRIVAL, loja, read_at};

/// Events that this version sets aside although the case wants them applied, and why.
const NOT_YET: [(&str, &str); 1] = [("W031", "compressed bodies")];

/// The receiver's limit: larger bodies never get here.
const BODY_BYTES_MAX: usize = 1 << 20;

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    // Cases of our own, for other providers, have a folder of theirs.
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    paths.iter().map(read).filter(|case| case["provider_style"] == "loja").collect()
}

/// Every delivery of a case, in order, those in parallel among them.
fn deliveries(case: &Value) -> Vec<&Value> {
    let steps = case["steps"].as_array().unwrap();
    let flat = steps.iter().flat_map(|step| match step.get("parallel") {
        Some(parallel) => parallel.as_array().unwrap().iter().collect(),
        None => vec![step],
    });
    flat.filter_map(|step| step.get("deliver")).collect()
}

/// The body's bytes; nothing when it is compressed by the harness or larger than the receiver takes.
fn body(deliver: &Value) -> Option<Vec<u8>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let body = if let Some(body) = deliver.get("body_utf8") {
        text(body).into_bytes()
    } else if let Some(body) = deliver.get("body_base64") {
        STANDARD.decode(text(body)).unwrap()
    } else {
        let spec = deliver.get("body_repeat")?;
        let times = |key: &str| usize::try_from(spec[key].as_u64().unwrap_or(0)).unwrap();
        if times("times") > BODY_BYTES_MAX {
            return None;
        }
        let middle =
            text(&spec["unit"]).repeat(times("times")) + &text(&spec["unit2"]).repeat(times("times2"));
        (text(&spec["before"]) + &middle + &text(&spec["after"])).into_bytes()
    };
    (body.len() <= BODY_BYTES_MAX).then_some(body)
}

fn headers(deliver: &Value) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, value) in deliver["headers"].as_object().unwrap() {
        let lines = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        headers.extend(lines.iter().map(|line| (name.clone(), line.as_str().unwrap().to_owned())));
    }
    headers
}

/// Whether an expectation, a value or a list of acceptable ones, allows a word.
fn allows(expected: &Value, words: &[&str]) -> bool {
    let allowed = |value: &Value| value.as_str().is_some_and(|word| words.contains(&word));
    expected.as_array().map_or_else(|| allowed(expected), |list| list.iter().any(allowed))
}

/// Whether the answer may be this status.
fn answers(expected: &Value, status: u16) -> bool {
    expected == status || expected.as_array().is_some_and(|list| list.iter().any(|one| one == status))
}

/// The words for what became of an event, as far as this crate can know.
fn words(reading: &Reading) -> &'static [&'static str] {
    match reading {
        Reading::Fact { .. } => &["applied", "stale", "terminal_regression", "duplicate"],
        Reading::Fetch { .. } => &["fetching"],
        Reading::Ignored(_) => &["ignored"],
        Reading::Test(_) => &["test"],
        Reading::Malformed(_) => &["malformed", "not_stored"],
    }
}

#[test]
fn every_delivery_is_verified_split_and_read_as_its_case_expects() {
    let profile = loja();
    let mut judged = 0;
    for case in cases() {
        let id = case["id"].as_str().unwrap();
        let arrival = case["clock"].as_str().unwrap_or(ARRIVAL);
        let secret = SecretString::from(case["signing"]["secret"].as_str().unwrap());
        let keys: Vec<_> = profile.scheme().key(&secret).into_iter().collect();
        let mut expected = case["expect"]["inbox_result"].as_array().unwrap().iter();
        for (deliver, http) in deliveries(&case).into_iter().zip(case["expect"]["http"].as_array().unwrap()) {
            let Some(body) = body(deliver) else {
                expected.next();
                continue;
            };
            let headers = headers(deliver);
            let request = Request::new(&headers, &body, 0);
            let verified = profile.scheme().verify(&request, &keys);
            let is_post = deliver.get("method").is_none_or(|method| method == "POST");
            assert_eq!(verified.is_ok(), is_post && !answers(http, 401), "{id}: {verified:?}");
            if verified.is_err() || !answers(http, 200) {
                expected.next();
                continue;
            }
            for envelope in profile.envelopes(&Incoming { body: &body, headers: &headers }) {
                let reading = read_at(&profile, Origin::Webhook, &envelope.body, arrival);
                let expected = expected.next().unwrap_or_else(|| panic!("{id}: one event too many"));
                let not_yet = NOT_YET.iter().any(|(case, _)| *case == id);
                assert_eq!(allows(expected, words(&reading)), !not_yet, "{id}: {reading:?}, not {expected}");
                judged += 1;
            }
        }
    }
    assert!(judged > 100, "only {judged} events judged");
}

#[test]
fn every_case_that_says_how_its_bytes_are_stored_finds_them_so() {
    use sha2::{Digest as _, Sha256};
    let profile = loja();
    let mut checked = 0;
    for case in cases() {
        let Some(expected) = case["expect"]["stored_raw_sha256"].as_str() else { continue };
        let body = body(deliveries(&case)[0]).unwrap();
        let envelope = profile.envelopes(&Incoming { body: &body, headers: &() }).remove(0);
        assert_eq!(hex::encode(Sha256::digest(&envelope.body)), expected, "{}", case["id"]);
        checked += 1;
    }
    assert!(checked >= 3);
}
