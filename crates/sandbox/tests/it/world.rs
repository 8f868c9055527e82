//! A served sandbox on a port of its own, and clients for it.

use std::{sync::Arc, time::Duration};

use axum::{Router, http::HeaderMap, routing::post};
use reqwest::{Client, RequestBuilder, Response, Url};
use sandbox::{
    fulfillment::verify::Secret,
    sandbox::{Sandbox, Settings},
    sender,
};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const TOKEN: &str = "api-token";
pub(crate) const WEBHOOK_SECRET: &str = "webhook-secret";
pub(crate) const FULFILLMENT_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Settings of a world whose receiver is at this URL.
pub(crate) fn settings(receiver: &str) -> Settings {
    Settings {
        seed: 7,
        prefix: String::new(),
        lost: 0.02,
        sender: sender::Settings {
            receiver: Url::parse(receiver).unwrap(),
            secret: SecretString::from(WEBHOOK_SECRET),
            concurrency: 16,
            rate: 0.0,
            duplicates: 0.10,
            timeout: Duration::from_secs(2),
        },
        api_token: SecretString::from(TOKEN),
        fulfillment_secret: SecretString::from(FULFILLMENT_SECRET),
        database_url: None,
        hang: Some(Duration::from_millis(200)),
    }
}

/// A sandbox that is up until it is dropped.
pub(crate) struct World {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) client: Client,
    pub(crate) url: String,
    _stop: DropGuard,
}

impl World {
    pub(crate) async fn start(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sandbox = Sandbox::new(settings).unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(sandbox.clone().serve(listener, stop.clone()));
        let client = Client::builder().no_proxy().build().unwrap();
        Self { sandbox, client, url, _stop: stop.drop_guard() }
    }

    /// A world whose webhooks are all accepted, in which so many orders have opened.
    pub(crate) async fn with_orders(orders: u64) -> Self {
        let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", receiver.local_addr().unwrap());
        let accept = Router::new().route("/", post(async || "ok"));
        tokio::spawn(axum::serve(receiver, accept).into_future());
        let world = Self::start(settings(&url)).await;
        assert!(world.sandbox.begin(orders));
        while world.sandbox.progress().orders < orders {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        world
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).bearer_auth(TOKEN)
    }

    /// Gets a page, however often the store says "later".
    pub(crate) async fn page(&self, query: &[(&str, &str)]) -> Value {
        loop {
            let response = self.get("/orders").query(query).send().await.unwrap();
            if response.status() == 200 {
                return response.json().await.unwrap();
            }
            assert_eq!(response.status(), 429);
            assert_eq!(response.headers()["retry-after"], "1");
        }
    }

    /// Follows `next` to the end.
    pub(crate) async fn all_orders(&self, since: &str, limit: &str) -> Vec<Value> {
        let mut orders = Vec::new();
        let mut page = self.page(&[("updated_since", since), ("limit", limit)]).await;
        loop {
            orders.extend(page["data"].as_array().unwrap().iter().cloned());
            let Some(token) = page["next"].as_str().map(str::to_owned) else {
                return orders;
            };
            page = self.page(&[("page_token", &token), ("limit", limit)]).await;
        }
    }

    /// One signed call to the fulfilment system; `None` when it broke the connection.
    pub(crate) async fn call(&self, order: &str, effect: &str, key: &str) -> Option<Response> {
        let (headers, body) = signed_call(order, effect, key);
        let request = self.client.post(format!("{}/fulfillment", self.url));
        request.headers(headers).body(body).send().await.ok()
    }

    /// Calls until it says 2xx.
    pub(crate) async fn deliver(&self, order: &str, effect: &str, key: &str) -> Value {
        for _ in 0..10 {
            let answer = self.call(order, effect, key).await;
            if let Some(answer) = answer.filter(|answer| answer.status().is_success()) {
                return answer.json().await.unwrap();
            }
        }
        panic!("{effect} of {order} was not taken");
    }
}

pub(crate) fn signed_call(order: &str, effect: &str, key: &str) -> (HeaderMap, Vec<u8>) {
    let body = json!({
        "type": format!("order.{effect}"),
        "timestamp": "2026-01-01T00:00:00Z",
        "data": {
            "effect_id": 1, "source": "loja", "kind": "order", "id": order, "effect": effect,
            "key": "", "status": "paid", "version": 2, "fields": {},
        },
    });
    let body = serde_json::to_vec(&body).unwrap();
    let secret = Secret::parse(&SecretString::from(FULFILLMENT_SECRET)).unwrap();
    let timestamp = sandbox::clock::now().as_second().to_string();
    let signature = secret.sign(key, &timestamp, &body);
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", key.parse().unwrap());
    headers.insert("webhook-timestamp", timestamp.parse().unwrap());
    headers.insert("webhook-signature", signature.parse().unwrap());
    headers.insert("idempotency-key", key.parse().unwrap());
    (headers, body)
}
