//! The vectors of 21 providers: official ones, and computed ones of what must be refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use secrecy::SecretString;
use serde_json::{Map, Value, json};
use signature::{Key, Message, Request, Scheme, SchemeSpec, Target};

/// Vectors without a verdict: the certificate is not public, so only the string to sign is compared.
const WITHOUT_KEY: [&str; 1] = ["paypal-string-to-sign"];

struct Vector(Value);

fn vectors() -> Vec<Vector> {
    let list: Vec<Value> = serde_json::from_str(include_str!("providers/vectors.json")).unwrap();
    assert_eq!(list.len(), 76);
    list.into_iter().map(Vector).collect()
}

impl Vector {
    fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    fn headers(&self) -> Vec<(String, String)> {
        let headers = self.0["headers"].as_object().unwrap();
        headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
    }

    /// The bodies that carry a signature each: all of it, or the items in their wrapping.
    fn bodies(&self) -> Vec<String> {
        let body = self.0["body"].as_str().unwrap();
        if self.0["verify"].get("unwrap").is_none() {
            return vec![body.to_owned()];
        }
        let document: Value = serde_json::from_str(body).unwrap();
        let items = document["notificationItems"].as_array().unwrap();
        items.iter().map(|item| item["NotificationRequestItem"].to_string()).collect()
    }

    fn now(&self) -> i64 {
        self.0["now_unix"].as_i64().unwrap_or(0)
    }

    fn constants(&self) -> Vec<(String, String)> {
        let config = self.0["config"].as_object().cloned().unwrap_or_default();
        config.into_iter().map(|(name, value)| (name, value.as_str().unwrap().to_owned())).collect()
    }

    fn scheme(&self) -> Scheme {
        let spec: SchemeSpec = serde_json::from_value(spec(&self.0["verify"])).unwrap();
        Scheme::compile(&spec).unwrap()
    }

    fn key(&self, scheme: &Scheme) -> Key {
        scheme.key(&SecretString::from(self.0["secret"].as_str().unwrap())).unwrap()
    }
}

/// The table that a profile would have.
fn spec(verify: &Value) -> Value {
    let mut table = Map::new();
    let kind = verify["kind"].as_str().unwrap();
    table.insert("kind".to_owned(), json!(kind));
    if kind == "basic" {
        return Value::Object(table);
    }
    let mut set = |key: &str, value: Value| {
        if !value.is_null() {
            table.insert(key.to_owned(), value);
        }
    };
    if let Some(hash) = verify["alg"].as_str() {
        set("algorithm", json!(if kind == "hmac" { format!("hmac-{hash}") } else { hash.to_owned() }));
    }
    set("prehash", verify["prehash"].clone());
    set("encoding", verify["encoding"].clone());
    let signature = &verify["signature"];
    set(signature["in"].as_str().unwrap(), signature["name"].clone());
    set("prefix", signature["prefix"].clone());
    let format = signature["format"].as_str().unwrap();
    set("format", json!(if format == "kv" { "pairs" } else { format }));
    set(
        "separator",
        [&signature["pair_sep"], &signature["sep"]]
            .into_iter()
            .find(|value| !value.is_null())
            .cloned()
            .unwrap_or_default(),
    );
    set("assign", signature["kv_sep"].clone());
    set("keys", signature["keys"].clone());
    set("timestamp_key", signature["ts_key"].clone());
    set("version_separator", signature["version_sep"].clone());
    set("versions", signature["versions"].clone());
    let key = &verify["key"];
    if let Some(form) = key["encoding"].as_str() {
        set("key", json!(if form == "utf8" { "text" } else { form }));
    }
    set("key_prefix", key["strip_prefix"].clone());
    set("html_unescape", key["html_unescape"].clone());
    if let Some(time) = verify["timestamp"].as_object() {
        let from = time.get("from").cloned().unwrap_or_else(|| json!("signature"));
        let unit = if time["unit"] == "ms" { "milliseconds" } else { "seconds" };
        set("timestamp", json!({"from": from, "unit": unit, "tolerance_seconds": time["tolerance_s"]}));
    }
    if let Some(join) = verify["join"]["fields"].as_array() {
        let fields: Vec<String> =
            join.iter().map(|field| format!("{{json:{}}}", field.as_str().unwrap())).collect();
        set("text", json!(fields.join(verify["join"]["sep"].as_str().unwrap())));
    }
    if let Some(template) = verify["template"].as_array() {
        let segments: Vec<Value> = template
            .iter()
            .map(|segment| {
                let text = words(segment["t"].as_str().unwrap());
                json!({"text": text, "optional": segment["optional"].as_bool().unwrap_or(false)})
            })
            .collect();
        let plain = template.len() == 1 && template[0]["t"] == "{body}";
        set("text", if plain { Value::Null } else { json!(segments) });
    }
    Value::Object(table)
}

fn words(template: &str) -> String {
    template
        .replace("{ts}", "{timestamp}")
        .replace("{url_path}", "{path}")
        .replace("{config_url}", "{url}")
        .replace("{config:", "{constant:")
        .replace("{body_crc32}", "{crc32}")
}

/// Calls `judge` with the request of a vector, once for each signed body.
fn each_request(vector: &Vector, judge: &mut dyn FnMut(&Request<'_>)) {
    let (headers, constants) = (vector.headers(), vector.constants());
    let url = vector.0["url"].as_str().unwrap_or_default();
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let path =
        address.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or("/");
    let target = Target {
        method: "POST",
        path,
        query,
        url: vector.0["config_url"].as_str().unwrap_or_default(),
        constants: &constants,
    };
    for body in vector.bodies() {
        judge(&Request::new(&headers, body.as_bytes(), vector.now()).to(target));
    }
}

#[test]
fn each_vector_is_accepted_or_refused_as_it_says() {
    let mut wrong = Vec::new();
    for vector in vectors().iter().filter(|vector| !WITHOUT_KEY.contains(&vector.id())) {
        let scheme = vector.scheme();
        let keys = [vector.key(&scheme)];
        each_request(vector, &mut |request| {
            let verdict = scheme.verify(request, &keys);
            if verdict.is_ok() != vector.0["valid"].as_bool().unwrap() {
                wrong.push(format!("{}: {verdict:?}", vector.id()));
            }
        });
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_changed_body_is_refused_where_the_signature_covers_it() {
    let mut refused = 0;
    for vector in vectors().iter().filter(|vector| vector.0["valid"] == true) {
        let scheme = vector.scheme();
        if !scheme.covers_body() || scheme.verifies_items() {
            continue;
        }
        let keys = [vector.key(&scheme)];
        each_request(vector, &mut |request| {
            for at in 0..request.body.len() {
                let mut body = request.body.to_vec();
                body[at] ^= 1;
                let changed = Request { body: &body, ..*request };
                assert!(scheme.verify(&changed, &keys).is_err(), "{} at {at}", vector.id());
                refused += 1;
            }
        });
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn the_string_to_sign_is_the_providers() {
    let mut compared = 0;
    for vector in vectors() {
        let Some(expected) = vector.0["string_to_sign"].as_str() else { continue };
        let scheme = vector.scheme();
        each_request(&vector, &mut |request| {
            let text = scheme.string_to_sign(request).unwrap();
            assert_eq!(String::from_utf8_lossy(&text), expected, "{}", vector.id());
            compared += 1;
        });
    }
    assert!(compared >= 5, "{compared}");
}

#[test]
fn signing_gives_the_value_that_the_provider_gives() {
    let mut compared = 0;
    for vector in vectors() {
        let Some(expected) = vector.0["expected_header_value"].as_str() else { continue };
        // We sign whole seconds; this one was signed between two.
        if vector.id() == "mercadopago-valid-lowercased-id" {
            continue;
        }
        let scheme = vector.scheme();
        let key = vector.key(&scheme);
        each_request(&vector, &mut |request| {
            let time = match vector.0["verify"]["timestamp"]["unit"].as_str() {
                Some("ms") => expected.split(['=', ',']).nth(1).unwrap().parse::<i64>().unwrap() / 1000,
                _ => vector.now(),
            };
            let message = Message {
                headers: request.headers,
                target: request.target,
                ..Message::new("", time, request.body)
            };
            let signed = scheme.sign_all(&message, &key).unwrap();
            let all = signed.headers.iter().chain(&signed.query).chain(&signed.json);
            let values: Vec<&String> = all.map(|(_, value)| value).collect();
            assert!(values.iter().any(|value| *value == expected), "{}: {values:?}", vector.id());
            compared += 1;
        });
    }
    assert!(compared >= 15, "{compared}");
}
