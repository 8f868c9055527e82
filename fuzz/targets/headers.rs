//! Whatever bytes a stranger puts into headers, query and body: no scheme panics, and none accepts.

use std::sync::LazyLock;

use secrecy::SecretString;
use signature::{Key, Request, Scheme, SchemeSpec, Target};

/// Public key of no private key that the fuzzer could know.
const PUBLIC: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";

/// One table for each kind and each grammar.
const TABLES: [&str; 14] = [
    "kind = 'hmac'\nheader = 'x-signature'\nprefix = 'sha256='\nprefix_required = false",
    "kind = 'hmac'\nheader = 'x-signature'\nencoding = 'base64'",
    "kind = 'hmac'\nheader = 'x-signature'\nencoding = 'base64url'\ntext = '{header:x-topic|lower}{body}'",
    "kind = 'hmac'\nheader = 'x-signature'\nformat = 'pairs'\nkeys = ['v1', 'v0']\ntimestamp_key = 't'\n\
     text = '{timestamp}.{body}'\ntimestamp = { tolerance_seconds = 300 }",
    "kind = 'hmac'\nheader = 'x-signature'\nformat = 'pairs'\nseparator = ';;'\nassign = ':='\nkeys = ['h1']",
    "kind = 'hmac'\nheader = 'x-signature'\nformat = 'list'\nversions = ['v1']\ntext = '{header:x-time}.{body}'",
    "kind = 'hmac'\nheader = 'x-signature'\ntext = [{ text = '{query:id|lower};', optional = true }, '{timestamp}']\n\
     timestamp = { from = 'header:x-time', unit = 'milliseconds', tolerance_seconds = 300, sides = 'past' }",
    "kind = 'hmac'\nquery = 'signature'\nalgorithm = 'hmac-sha1'\ntext = '{method}{path}{crc32}{body}'",
    "kind = 'hmac'\njson = 'a.items[0].signature'\nalgorithm = 'hmac-sha512'\ntext = '{json:id}:{json:a.items[0].id}'",
    "kind = 'digest'\nheader = 'x-signature'\ntext = '{secret}-{body}'",
    "kind = 'token'\nheader = 'x-signature'\nprefix = 'Token '",
    "kind = 'basic'",
    "kind = 'standard-webhooks'",
    "kind = 'any-of'\nchecks = [{ kind = 'bearer' }, { kind = 'token', header = 'x-signature' }]",
];

/// What takes another secret than the rest.
const SIGNED_BY_KEY: &str = "kind = 'ed25519'\nheader = 'x-signature'\nkey = 'pem'\nprehash = 'sha256'";

static SCHEMES: LazyLock<Vec<(Scheme, Vec<Key>)>> = LazyLock::new(|| {
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{PUBLIC}\n-----END PUBLIC KEY-----");
    let secret = "user:a secret that no fuzzer guesses 4b1f7c0e";
    let usual = TABLES.iter().map(|table| (*table, secret));
    usual.chain([(SIGNED_BY_KEY, pem.as_str())]).map(|(table, secret)| ready(table, secret)).collect()
});

fn ready(table: &str, secret: &str) -> (Scheme, Vec<Key>) {
    let spec: SchemeSpec = toml::from_str(table).expect("a table that can be read");
    let scheme = Scheme::compile(&spec).expect("a scheme that can be used");
    let key = scheme.key(&SecretString::from(secret)).expect("a key that can be used");
    (scheme, vec![key])
}

/// The first byte picks the scheme; zero bytes part header, second header, time, query and body.
pub(crate) fn check(input: &[u8]) {
    let Some((pick, rest)) = input.split_first() else { return };
    let (scheme, keys) = &SCHEMES[usize::from(*pick) % SCHEMES.len()];
    let mut parts = rest.splitn(5, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let (one, two, time, query, body) = (next(), next(), next(), next(), next());
    let mut headers: Vec<(&str, &[u8])> = Vec::new();
    for name in ["x-signature", "authorization", "webhook-signature", "webhook-id", "webhook-timestamp"] {
        headers.push((name, one));
    }
    if !two.is_empty() {
        headers.push(("x-signature", two));
        headers.push(("x-topic", two));
    }
    headers.push(("x-time", time));
    let query = String::from_utf8_lossy(query);
    let target = Target { method: "POST", path: "/hooks/x", query: &query, ..Target::default() };
    let request = Request::new(&headers, body, 1_767_323_045).to(target);
    assert!(scheme.verify(&request, keys).is_err(), "nobody who knows no secret is believed");
    let _ = scheme.string_to_sign(&request);
}
