//! The providers' vectors, judged by the `[verify]` table of the profile that ships for each provider.

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
const EXCEPTIONS: [(&str, &str); 6] = [
    (
        "mercadopago-as-is-signature-refused-by-lower-profile",
        "the shipped profile tries the id as received and in lower case, because the provider's libraries disagree",
    ),
    (
        "mercadopago-expired-ms",
        "the shipped profile has no tolerance, because the provider tells the unit of the time in two ways",
    ),
    ("adyen-platform-valid", "platform webhooks are signed in another way and are not the shipped profile's"),
    ("adyen-platform-key-as-text", "as above"),
    (
        "standard-ed25519-valid",
        "the shipped profile takes secrets; for a public key it says which lines to put in",
    ),
    ("standard-ed25519-altered", "as above"),
];

/// Providers for which no profile ships.
const NOT_SHIPPED: [&str; 7] = ["bigcommerce", "eduzz", "efi", "iugu", "kiwify_banking", "pagarme", "paypal"];

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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/vectors.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn profile_file(provider: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles").join(provider).with_extension("toml")
}

fn profile(provider: &str) -> Profile {
    let text =
        std::fs::read_to_string(profile_file(provider)).unwrap_or_else(|error| panic!("{provider}: {error}"));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{provider}: {error}"))
}

/// The parts of a body that are signed one by one.
fn parts(body: &str, split: Option<&str>) -> Result<Vec<Vec<u8>>, String> {
    let Some((list, item)) = split.and_then(|path| path.split_once("[].")) else {
        return Ok(vec![body.as_bytes().to_vec()]);
    };
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let entries = body[list].as_array().ok_or("there is no such list")?;
    Ok(entries.iter().map(|entry| entry[item].to_string().into_bytes()).collect())
}

fn accepted(vector: &Vector) -> bool {
    judge(vector).unwrap_or_else(|reason| panic!("{}: {reason}", vector.id))
}

/// Whether the vector is accepted; or why its secret is none for this profile.
fn judge(vector: &Vector) -> Result<bool, String> {
    let profile = profile(&vector.provider);
    let scheme = Scheme::compile(&profile.verify).unwrap_or_else(|error| panic!("{}: {error}", vector.id));
    let secret = SecretString::from(vector.secret.as_deref().unwrap_or_default());
    let keys = [scheme.key(&secret).map_err(|error| error.to_string())?];
    let url = vector.url.as_deref().unwrap_or_default();
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let path = address.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    let constants: Vec<_> = vector.config.clone().into_iter().collect();
    let headers: Vec<_> = vector.headers.iter().collect();
    let registered = vector.config_url.as_deref().unwrap_or_default();
    let target = Target { method: "POST", path: &path, query, url: registered, constants: &constants };
    let is_ok =
        |body: &[u8]| scheme.verify(&Request::new(&headers, body, vector.now_unix).to(target), &keys).is_ok();
    Ok(parts(&vector.body, profile.receive.split.as_deref())?.iter().all(|body| is_ok(body)))
}

fn is_judged(vector: &Vector) -> bool {
    !NOT_SHIPPED.contains(&vector.provider.as_str()) && !EXCEPTIONS.iter().any(|(id, _)| *id == vector.id)
}

#[test]
fn each_vector_is_judged_as_it_says_by_the_profile_of_its_provider() {
    let vectors = vectors();
    let judged: Vec<_> = vectors.iter().filter(|vector| is_judged(vector)).collect();
    for vector in &judged {
        assert_eq!(Some(accepted(vector)), vector.valid, "{}", vector.id);
    }
    assert!(judged.len() >= 45, "only {} vectors were judged", judged.len());
}

#[test]
fn what_is_excepted_is_a_vector_and_needs_the_exception() {
    let vectors = vectors();
    for (id, reason) in EXCEPTIONS {
        let vector = vectors.iter().find(|vector| vector.id == id).unwrap_or_else(|| panic!("{id}"));
        // A refusal that is due for another reason stays one.
        let refused_anyway = ["adyen-platform-key-as-text", "standard-ed25519-altered"].contains(&id);
        assert_eq!(Some(judge(vector).unwrap_or(false)) == vector.valid, refused_anyway, "{id}: {reason}");
    }
    for provider in NOT_SHIPPED {
        assert!(!profile_file(provider).exists(), "{provider} ships: take it off the list");
    }
}

#[derive(Deserialize)]
struct Samples {
    secret: String,
    #[serde(default)]
    now: i64,
    #[serde(default)]
    public_url: String,
    requests: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    name: String,
    headers: BTreeMap<String, String>,
    #[serde(default)]
    query: String,
    body: String,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    #[serde(default)]
    reading: String,
    #[serde(default = "yes")]
    verified: bool,
}

fn yes() -> bool {
    true
}

/// Whether a sample's signature is accepted.
fn verified(provider: &str, samples: &Samples, sample: &Sample) -> bool {
    let profile = profile(provider);
    let scheme = Scheme::compile(&profile.verify).unwrap();
    let keys = [scheme.key(&SecretString::from(samples.secret.as_str())).unwrap()];
    let headers: Vec<_> = sample.headers.iter().collect();
    let target = Target { query: &sample.query, url: &samples.public_url, ..Target::default() };
    parts(&sample.body, profile.receive.split.as_deref())
        .unwrap()
        .iter()
        .all(|body| scheme.verify(&Request::new(&headers, body, samples.now).to(target), &keys).is_ok())
}

#[test]
fn each_sample_is_accepted_or_refused_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles/samples");
    let (mut accepted, mut refused) = (0, 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let provider = file.file_stem().unwrap().to_str().unwrap();
        let samples: Samples = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        // A handshake may come without a signature.
        for sample in samples.requests.iter().filter(|sample| sample.expect.reading != "handshake") {
            assert_eq!(
                verified(provider, &samples, sample),
                sample.expect.verified,
                "{provider}: {}",
                sample.name
            );
            accepted += usize::from(sample.expect.verified);
            refused += usize::from(!sample.expect.verified);
        }
    }
    assert!(accepted >= 120 && refused >= 15, "{accepted} accepted, {refused} refused");
}
