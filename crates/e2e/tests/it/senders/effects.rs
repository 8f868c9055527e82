//! Effects as the publisher signs them, checked by the libraries that a destination would use.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde_json::{Value, json};
use testkit::{Event, eventually};

use super::{bodies::alterations, libraries};
use crate::system::System;

pub(super) const SECRETS: [&str; 2] =
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2VncmVkbyBkYSBzZXBhcmHDp8Ojbw=="];
const SETTINGS: &str = r#"
[destinations.fulfillment]
type = "http"
url = "env:FULFILLMENT_URL"
secrets = ["env:FULFILLMENT_SECRET", "env:FULFILLMENT_SECRET_PREVIOUS"]
"#;

type Calls = Arc<Mutex<Vec<(Value, String)>>>;

async fn remember(State(calls): State<Calls>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let headers =
        headers.iter().map(|(name, value)| (name.to_string(), json!(value.to_str().unwrap()))).collect();
    let body = String::from_utf8(body.to_vec()).unwrap();
    calls.lock().unwrap().push((Value::Object(headers), body));
    StatusCode::OK
}

/// The calls that the publisher makes for an order that was paid, then canceled, with a text that must be escaped.
pub(super) async fn effects() -> Vec<(Value, String)> {
    let calls = Calls::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/effects", listener.local_addr().unwrap());
    let router = Router::new().fallback(remember).with_state(calls.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let environment = [
        ("LOJA_WEBHOOK_SECRET", testkit::SECRET),
        ("FULFILLMENT_URL", &url),
        ("FULFILLMENT_SECRET", SECRETS[0]),
        ("FULFILLMENT_SECRET_PREVIOUS", SECRETS[1]),
    ];
    let mut system = System::new(SETTINGS, &environment).await;
    for daemon in ["receiver", "applier", "publisher"] {
        system.add(daemon).await;
    }
    let receiver = system.target("").replace("/webhooks/", "");
    for (status, sequence) in [("paid", 1), ("canceled", 2)] {
        let mut event = Event::new("ped/\"ç\" 🧾", status, sequence);
        event.json["data"]["customer_email"] = json!("josé\u{2028}\\/@exämple.com");
        event.json["data"]["total_cents"] = json!(super::bodies::BIG);
        assert_eq!(event.post(&reqwest::Client::new(), &receiver).await.unwrap(), 200);
        let count = usize::try_from(sequence).unwrap();
        eventually("the effect is delivered", count, || async { calls.lock().unwrap().len() }).await;
    }
    calls.lock().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_libraries_take_what_the_publisher_signs() {
    let all = libraries::all();
    if all.is_empty() {
        return;
    }
    let calls = effects().await;
    assert!(
        calls.iter().all(|(_, body)| body.contains('🧾') && body.contains("9007199254740993")),
        "{calls:?}"
    );
    let ask = |headers: &Value, body: &str, secret: &str| json!({"library": "standardwebhooks", "do": "verify", "secret": secret, "body": body, "headers": headers});
    for libraries in &all {
        for (headers, body) in &calls {
            // Either secret: whoever checks may have changed to the next one, or not yet.
            let right = SECRETS.map(|secret| ask(headers, body, secret));
            assert_eq!(libraries.ask(&right), [true, true], "{headers} {body}");
            let mut wrong = vec![ask(headers, body, "whsec_AAAA")];
            wrong.extend(alterations(body).iter().map(|(_, other)| ask(headers, other, SECRETS[0])));
            let mut other_id = headers.clone();
            other_id["webhook-id"] = json!("another");
            wrong.push(ask(&other_id, body, SECRETS[0]));
            assert!(wrong.len() >= 5);
            assert!(libraries.ask(&wrong).iter().all(|taken| *taken == false), "{headers} {body}");
        }
    }
}
