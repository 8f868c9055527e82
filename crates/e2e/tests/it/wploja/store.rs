//! The store: it signs what it sends, and its API lists what changed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    routing::get,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::Clock;
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use service::SystemClock;
use sha2::Sha256;

use crate::system::System;

pub(crate) const SECRET: &str = "segredo-da-loja";
const TOKEN: &str = "token-da-loja";

/// This long ago, in whole seconds as the store writes them.
pub(crate) fn ago(seconds: i64) -> Timestamp {
    let at = SystemClock.now() - SignedDuration::from_secs(seconds);
    Timestamp::from_second(at.as_second()).unwrap()
}

/// An order as the store tells of it, in webhooks and in its API.
pub(crate) fn order(id: u64, status: &str, updated_at: Timestamp) -> Value {
    json!({
        "id": id,
        "status": status,
        "updated_at": updated_at.to_string(),
        "total_cents": id * 100,
        "currency": "BRL",
        "customer_email": format!("c{id}@example.com"),
    })
}

/// The header of a body as PHP writes it: the slashes are escaped, and so is all beyond ASCII.
pub(crate) fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

/// One delivery.
pub(crate) struct Delivery {
    topic: &'static str,
    event_id: Option<String>,
    body: String,
    signature: Option<String>,
}

/// A signed delivery of an order, without an event id.
pub(crate) fn delivery(topic: &'static str, order: &Value) -> Delivery {
    delivery_of(topic, order.to_string())
}

/// A signed delivery of these bytes.
pub(crate) fn delivery_of(topic: &'static str, body: String) -> Delivery {
    Delivery { topic, event_id: None, signature: Some(signature(SECRET, &body)), body }
}

impl Delivery {
    pub(crate) fn id(mut self, id: &str) -> Self {
        self.event_id = Some(id.to_owned());
        self
    }

    pub(crate) fn signed(mut self, signature: Option<String>) -> Self {
        self.signature = signature;
        self
    }

    pub(crate) async fn send(&self, system: &System) -> u16 {
        let mut request = reqwest::Client::new()
            .post(system.target("wploja"))
            .header("content-type", "application/json")
            .header("X-Loja-Topico", self.topic);
        if let Some(id) = &self.event_id {
            request = request.header("X-Loja-Evento-Id", id);
        }
        if let Some(signature) = &self.signature {
            request = request.header("X-Loja-Assinatura", signature);
        }
        request.body(self.body.clone()).send().await.unwrap().status().as_u16()
    }
}

/// The store's API. Its list is in no order of time.
#[derive(Clone, Default)]
pub(crate) struct Api {
    orders: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Asked>>,
}

/// The lower bounds that were asked for.
type Asked = Vec<Timestamp>;

impl Api {
    /// Starts it, and tells its address.
    pub(crate) async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/pedidos", get(page)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    /// What an order is now.
    pub(crate) fn set(&self, order: Value) {
        let mut orders = self.orders.lock().unwrap();
        orders.retain(|known| known["id"] != order["id"]);
        orders.push(order);
    }

    pub(crate) fn asked(&self) -> Asked {
        self.asked.lock().unwrap().clone()
    }

    /// Every order, as its row must be.
    pub(crate) fn rows(&self) -> Vec<String> {
        let orders = self.orders.lock().unwrap();
        let mut rows: Vec<String> = orders.iter().map(row_of).collect();
        rows.sort();
        rows
    }
}

/// An order's row, as text.
pub(crate) fn row_of(order: &Value) -> String {
    let status = match order["status"].as_str().unwrap() {
        "criado" => "created",
        "pago" => "paid",
        "enviado" => "shipped",
        "cancelado" => "canceled",
        other => panic!("{other}"),
    };
    format!("{} {status} {} {}", order["id"], order["total_cents"], order["customer_email"].as_str().unwrap())
}

/// The rows there are, as [`row_of`] writes them.
pub(crate) async fn rows(system: &System) -> Vec<String> {
    let sql = "select concat_ws(' ', id, status, total_minor, customer_email) from ordem.orders where source = 'wploja'";
    let mut rows = system.strings(sql).await;
    rows.sort();
    rows
}

async fn page(
    State(api): State<Api>,
    headers: HeaderMap,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Value>, StatusCode> {
    if headers.get("authorization").is_none_or(|value| value != &format!("Bearer {TOKEN}")) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    let bound: Timestamp = query["updated_since"].parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let number = |name: &str| query.get(name).map(|text| text.parse::<usize>().unwrap());
    api.asked.lock().unwrap().push(bound);
    let since = |order: &&Value| order["updated_at"].as_str().unwrap().parse::<Timestamp>().unwrap() >= bound;
    let changed: Vec<Value> = api.orders.lock().unwrap().iter().filter(since).cloned().collect();
    let start = number("page_token").unwrap_or(0);
    let data: Vec<&Value> = changed.iter().skip(start).take(number("limit").unwrap()).collect();
    let end = start + data.len();
    let next = (end < changed.len()).then_some(end.to_string());
    Ok(Json(json!({"data": data, "next": next})))
}

/// The environment of a system that listens to this store.
pub(crate) fn environment(api: &str) -> [(&'static str, &str); 3] {
    [("WPLOJA_WEBHOOK_SECRET", SECRET), ("WPLOJA_API_URL", api), ("WPLOJA_API_TOKEN", TOKEN)]
}
