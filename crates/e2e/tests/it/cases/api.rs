//! The store's API of a case: gives the scripted answers, one a request, in the shape that `loja` has.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Request, State},
    http::{Response, StatusCode},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use url_query::since;

/// One scripted answer.
struct Scripted {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    /// The orders it tells of.
    orders: Vec<String>,
}

#[derive(Default)]
struct Inner {
    script: VecDeque<Scripted>,
    served: Vec<String>,
    since: Vec<Timestamp>,
}

#[derive(Clone)]
pub(crate) struct Api {
    inner: Arc<Mutex<Inner>>,
    port: u16,
}

impl Api {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api = Self { inner: Arc::default(), port: listener.local_addr().unwrap().port() };
        let router = Router::new().fallback(answer).with_state(api.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        api
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Adds answers that belong together, in their order.
    pub(crate) fn script(&self, answers: &[&Value]) {
        let scripted = answers.iter().enumerate().map(|(at, answer)| {
            let following = answers[at + 1..].iter().find(|next| next["status"] == 200);
            scripted(answer, next_page(answer, following.copied()))
        });
        self.inner.lock().unwrap().script.extend(scripted);
    }

    /// Whether all answers were given.
    pub(crate) fn is_done(&self) -> bool {
        self.inner.lock().unwrap().script.is_empty()
    }

    /// The orders that were told of since the last call, in their order.
    pub(crate) fn served(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.lock().unwrap().served)
    }

    /// From when on each list was asked for.
    pub(crate) fn asked_since(&self) -> Vec<Timestamp> {
        self.inner.lock().unwrap().since.clone()
    }
}

async fn answer(State(api): State<Api>, request: Request) -> Response<String> {
    let mut inner = api.inner.lock().unwrap();
    inner.since.extend(since(request.uri().query().unwrap_or_default()));
    let Some(scripted) = inner.script.pop_front() else {
        return Response::new(json!({"data": [], "next": null}).to_string());
    };
    inner.served.extend(scripted.orders);
    let mut response = Response::builder().status(StatusCode::from_u16(scripted.status).unwrap());
    for (name, value) in &scripted.headers {
        response = response.header(name, value);
    }
    response.body(scripted.body).unwrap()
}

/// The token of the next page: only where the file's next request goes on from this answer.
fn next_page(answer: &Value, following: Option<&Value>) -> Option<String> {
    let asked = following?["request"].as_str().unwrap();
    let goes_on = match &answer["body"]["next_cursor"] {
        Value::String(cursor) => asked.contains(&format!("after={cursor}")),
        _ => asked.contains("offset=") && !asked.contains("offset=0"),
    };
    goes_on.then(|| asked.to_owned())
}

fn scripted(answer: &Value, next: Option<String>) -> Scripted {
    let list = |key: &str| answer["body"][key].as_array().cloned().unwrap_or_default();
    let data: Vec<Value> = list("orders").iter().map(order).chain(list("events").iter().map(event)).collect();
    let headers = answer["headers"].as_object().cloned().unwrap_or_default();
    Scripted {
        status: u16::try_from(answer["status"].as_u64().unwrap()).unwrap(),
        headers: headers
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect(),
        orders: data.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect(),
        body: json!({"data": data, "next": next}).to_string(),
    }
}

/// An order of the file in the words of `loja`'s API.
fn order(order: &Value) -> Value {
    let mut order = order.clone();
    order["status"] = json!(match order["status"].as_str().unwrap() {
        "pago" => "paid",
        "enviado" => "shipped",
        "cancelado" => "canceled",
        other => other,
    });
    order
}

/// An event of the file's feed as `loja`'s API tells the order that it is about.
fn event(event: &Value) -> Value {
    let status = event["type"].as_str().unwrap().trim_start_matches("order.");
    let mut order = event["data"].clone();
    order["status"] = json!(if status == "created" { "open" } else { status });
    order["updated_at"] = event["occurred_at"].clone();
    if let Some(sequence) = event.get("sequence") {
        order["sequence"] = sequence.clone();
    }
    order
}

mod url_query {
    use jiff::Timestamp;

    /// The instant of `updated_since`.
    pub(super) fn since(query: &str) -> Option<Timestamp> {
        let value = query.split('&').find_map(|pair| pair.strip_prefix("updated_since="))?;
        value.replace("%3A", ":").replace("%2B", "+").parse().ok()
    }
}
