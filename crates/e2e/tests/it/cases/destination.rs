//! The destination of a case: answers by its script and remembers each call.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Response},
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::watch;

/// The chunks that a long answer is sent in.
const CHUNK: usize = 65536;

/// A call as it came.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// `ORDER:EFFECT`.
    pub(crate) effect: String,
    pub(crate) attempt: u64,
    pub(crate) key: String,
    /// Whether the destination did the work.
    pub(crate) is_accepted: bool,
}

#[derive(Clone)]
pub(crate) struct Destination {
    scripts: Arc<HashMap<(String, u64), Value>>,
    calls: Arc<Mutex<Vec<Call>>>,
    released: watch::Sender<bool>,
    holding: watch::Sender<bool>,
    port: u16,
}

impl Destination {
    pub(crate) async fn start(scripts: &[Value]) -> Self {
        let key = |script: &Value| {
            let name =
                format!("{}:{}", script["order"].as_str().unwrap(), script["effect"].as_str().unwrap());
            (name, script["attempt"].as_u64().unwrap())
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let destination = Self {
            scripts: Arc::new(scripts.iter().map(|script| (key(script), script.clone())).collect()),
            calls: Arc::default(),
            released: watch::channel(false).0,
            holding: watch::channel(false).0,
            port: listener.local_addr().unwrap().port(),
        };
        let router = Router::new().fallback(answer).with_state(destination.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        destination
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/effects", self.port)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Whether some call is never answered.
    pub(crate) fn times_out(&self) -> bool {
        self.scripts.values().any(|script| script["behavior"] == "accept_then_timeout")
    }

    /// Returns once a call is held back.
    pub(crate) async fn holds(&self) {
        let mut holding = self.holding.subscribe();
        // Sender and receiver live in this very value.
        let _never_closed = holding.wait_for(|holding| *holding).await;
    }

    /// Lets calls go that are held back.
    pub(crate) fn release(&self) {
        self.released.send_replace(true);
    }
}

async fn answer(State(destination): State<Destination>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let data = |key: &str| message["data"][key].as_str().unwrap_or_default();
    let effect = format!("{}:{}", data("id"), data("effect"));
    let (at, attempt) = {
        let mut calls = destination.calls.lock().unwrap();
        let before = calls.iter().filter(|call| call.effect == effect).count();
        let key = headers["idempotency-key"].to_str().unwrap().to_owned();
        let attempt = before as u64 + 1;
        calls.push(Call { effect: effect.clone(), attempt, key, is_accepted: false });
        (calls.len() - 1, attempt)
    };
    let script = destination.scripts.get(&(effect, attempt)).cloned().unwrap_or_default();
    if script["behavior"] == "accept_then_timeout" {
        destination.calls.lock().unwrap()[at].is_accepted = true;
        // The work is done, and nobody is told.
        std::future::pending::<()>().await;
    }
    if script["behavior"] == "accept_after_seconds" {
        let mut released = destination.released.subscribe();
        destination.holding.send_replace(true);
        let _never_closed = released.wait_for(|released| *released).await;
    }
    let status = u16::try_from(script["status"].as_u64().unwrap_or(200)).unwrap();
    destination.calls.lock().unwrap()[at].is_accepted = (200..300).contains(&status);
    Response::builder().status(status).body(body_of(&script)).unwrap()
}

fn body_of(script: &Value) -> Body {
    if let Some(text) = script["body_utf8"].as_str() {
        return Body::from(text.to_owned());
    }
    if let Some(text) = script["body_base64"].as_str() {
        return Body::from(STANDARD.decode(text).unwrap());
    }
    if let Some(spec) = script.get("body_repeat") {
        let letter = spec["unit"].as_str().unwrap();
        let times = usize::try_from(spec["times"].as_u64().unwrap()).unwrap();
        let chunk = Bytes::from(letter.repeat(CHUNK));
        let chunks = std::iter::repeat_n(chunk, times / CHUNK).map(Ok::<_, Infallible>);
        return Body::from_stream(stream::iter(chunks));
    }
    Body::empty()
}
