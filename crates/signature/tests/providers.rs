//! The providers' vectors: each is accepted or refused as it says, by the `[verify]` table of the profile that ships for its
//! provider, or by the table that a profile for it would have.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::Deserialize;
use signature::{Request, Scheme, SchemeSpec, Target};

/// A vector as it was collected; what else it says is for people.
#[derive(Deserialize)]
struct Vector {
    id: String,
    provider: String,
    secret: Option<String>,
    headers: BTreeMap<String, String>,
    body: String,
    url: Option<String>,
    config_url: Option<String>,
    #[serde(default)]
    config: BTreeMap<String, String>,
    #[serde(default)]
    now_unix: i64,
    valid: Option<bool>,
}

/// Vectors that are judged otherwise here, each with the reason.
const EXCEPTIONS: [(&str, &str); 3] = [
    (
        "mercadopago-as-is-signature-refused-by-lower-profile",
        "the shipped profile tries the id as received and in lower case, because the provider's libraries disagree",
    ),
    (
        "mercadopago-expired-ms",
        "the shipped profile has no tolerance, because the provider tells the unit of the time in two ways",
    ),
    ("paypal-string-to-sign", "says only what is signed: its certificate is not public"),
];

/// `[verify]` of providers for which no profile ships.
const OTHERS: [(&str, &str); 11] = [
    (
        "kiwify_banking",
        r#"kind = "ed25519"
        header = "x-kiwify-digital-signature"
        encoding = "base64url"
        key = "base64"
        prehash = "sha256"
        text = "{path}:POST:{body}:{header:x-kiwify-timestamp}"
        timestamp = { from = "header:x-kiwify-timestamp", unit = "milliseconds", tolerance_seconds = 300, sides = "both" }"#,
    ),
    ("eduzz", "kind = \"hmac\"\nheader = \"x-signature\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\""),
    ("iugu", "kind = \"token\"\nheader = \"authorization\""),
    ("efi", "kind = \"token\"\nquery = \"hmac\""),
    ("pagarme", "kind = \"basic\""),
    (
        "pagarme-v4-postback",
        r#"kind = "hmac"
        header = "x-hub-signature"
        algorithm = "hmac-sha1"
        encoding = "hex"
        prefix = "sha1=""#,
    ),
    (
        "paypal",
        r#"kind = "rsa"
        header = "paypal-transmission-sig"
        hash = "sha256"
        encoding = "base64"
        key = "pem"
        text = "{header:paypal-transmission-id}|{header:paypal-transmission-time}|{constant:webhook_id}|{crc32}""#,
    ),
    (
        "bigcommerce",
        r#"kind = "hmac"
        header = "webhook-signature"
        algorithm = "hmac-sha256"
        encoding = "base64"
        format = "list"
        versions = ["v1"]
        text = "{header:webhook-id}.{header:webhook-timestamp}.{body}"
        timestamp = { from = "header:webhook-timestamp", unit = "seconds", tolerance_seconds = 300, sides = "both" }"#,
    ),
    (
        "standard-ed25519",
        r#"kind = "ed25519"
        header = "webhook-signature"
        encoding = "base64"
        format = "list"
        versions = ["v1a"]
        key = "base64"
        key_prefix = "whpk_"
        text = "{header:webhook-id}.{header:webhook-timestamp}.{body}"
        timestamp = { from = "header:webhook-timestamp", unit = "seconds", tolerance_seconds = 300, sides = "both" }"#,
    ),
    (
        "adyen-platform-key-as-text",
        r#"kind = "hmac"
        header = "hmacsignature"
        algorithm = "hmac-sha256"
        encoding = "base64""#,
    ),
    (
        "adyen-platform",
        r#"kind = "hmac"
        header = "hmacsignature"
        algorithm = "hmac-sha256"
        encoding = "base64"
        key = "hex""#,
    ),
];

#[derive(Deserialize)]
struct Profile {
    verify: SchemeSpec,
    #[serde(default)]
    receive: Receive,
}

#[derive(Default, Deserialize)]
struct Receive {
    split: Option<String>,
}

fn vectors() -> Vec<Vector> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/signature_vectors.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn profile_file(provider: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles").join(provider).with_extension("toml")
}

/// The table that judges a vector: one of those above, or the shipped profile's.
fn profile(vector: &Vector) -> Option<Profile> {
    let name = match vector.id.as_str() {
        id @ ("pagarme-v4-postback" | "adyen-platform-key-as-text") => id,
        id if id.starts_with("adyen-platform") => "adyen-platform",
        id if id.starts_with("standard-ed25519") => "standard-ed25519",
        _ => &vector.provider,
    };
    if let Some((_, table)) = OTHERS.iter().find(|(other, _)| *other == name) {
        return Some(Profile {
            verify: toml::from_str(table).unwrap_or_else(|error| panic!("{name}: {error}")),
            receive: Receive::default(),
        });
    }
    let text = std::fs::read_to_string(profile_file(name)).ok()?;
    Some(toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// The parts of a body that are signed one by one.
fn parts(body: &str, split: Option<&str>) -> Vec<Vec<u8>> {
    let Some((list, item)) = split.and_then(|path| path.split_once("[].")) else {
        return vec![body.as_bytes().to_vec()];
    };
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body[list].as_array().unwrap().iter().map(|entry| entry[item].to_string().into_bytes()).collect()
}

/// Whether the vector is accepted; nothing when there is no profile for its provider.
fn accepted(vector: &Vector) -> Option<bool> {
    let profile = profile(vector)?;
    let scheme = Scheme::compile(&profile.verify).unwrap_or_else(|error| panic!("{}: {error}", vector.id));
    let secret = SecretString::from(vector.secret.as_deref().unwrap_or_default());
    let keys = [scheme.key(&secret).unwrap_or_else(|error| panic!("{}: {error}", vector.id))];
    let url = vector.url.as_deref().unwrap_or_default();
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let path = address.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    let constants: Vec<_> = vector.config.clone().into_iter().collect();
    let headers: Vec<_> = vector.headers.iter().collect();
    let registered = vector.config_url.as_deref().unwrap_or_default();
    let target = Target { method: "POST", path: &path, query, url: registered, constants: &constants };
    let judge =
        |body: &[u8]| scheme.verify(&Request::new(&headers, body, vector.now_unix).to(target), &keys).is_ok();
    Some(parts(&vector.body, profile.receive.split.as_deref()).iter().all(|body| judge(body)))
}

#[test]
fn each_vector_is_judged_as_it_says_by_the_profile_of_its_provider() {
    let mut checked = 0;
    let mut without_profile = Vec::new();
    for vector in vectors() {
        let excepted = EXCEPTIONS.iter().any(|(id, _)| *id == vector.id);
        let Some(valid) = vector.valid.filter(|_| !excepted) else { continue };
        match accepted(&vector) {
            Some(accepted) => assert_eq!(accepted, valid, "{}", vector.id),
            None => {
                without_profile.push(vector.provider);
                continue;
            }
        }
        checked += 1;
    }
    without_profile.dedup();
    assert!(without_profile.iter().all(|provider| provider == "stripe"), "{without_profile:?}");
    assert!(checked >= 60, "only {checked} vectors were checked");
}

#[test]
fn the_exceptions_are_vectors_and_judged_the_other_way() {
    let vectors = vectors();
    for (id, reason) in EXCEPTIONS {
        let vector = vectors.iter().find(|vector| vector.id == id).unwrap_or_else(|| panic!("{id}"));
        if id.starts_with("mercadopago") {
            assert_eq!(accepted(vector), Some(true), "{id}: {reason}");
        }
    }
}
