//! The provider's API of a case: gives the scripted answers, one a request.
//!
//! Lists of `loja` are put into its shape; all else is as the case has it, by its path.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{Response, Uri},
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};
use url_query::since;

/// One scripted answer.
#[derive(Clone)]
struct Scripted {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// The orders it tells of.
    orders: Vec<String>,
}

#[derive(Default)]
struct Inner {
    script: VecDeque<Scripted>,
    /// The answers at each address.
    resources: Vec<Resource>,
    reads_lists: bool,
    items: Vec<Value>,
    served: Vec<String>,
    since: Vec<Timestamp>,
}

/// What one path answers, in this order. The last stays where one thing is asked for, and is followed by an empty page
/// where a list is read.
struct Resource {
    path: String,
    asked: u32,
    /// Whether it was asked for as a list.
    is_list: bool,
    answers: VecDeque<Scripted>,
    /// Whether the last was given.
    is_done: bool,
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

    /// From now on a list is read, or no more.
    pub(crate) fn reads_lists(&self, reads_lists: bool) {
        self.inner.lock().unwrap().reads_lists = reads_lists;
    }

    /// Items of the answers to lists since the last call.
    pub(crate) fn items(&self) -> Vec<Value> {
        std::mem::take(&mut self.inner.lock().unwrap().items)
    }

    /// Adds answers that belong together, in their order.
    pub(crate) fn script(&self, answers: &[&Value]) {
        let scripted = answers.iter().enumerate().map(|(at, answer)| {
            let following = answers[at + 1..].iter().find(|next| next["status"] == 200);
            scripted(answer, next_page(answer, following.copied()))
        });
        self.inner.lock().unwrap().script.extend(scripted);
    }

    /// Adds what one path answers next; `loja` has words of its own for orders. The query only describes.
    pub(crate) fn script_resource(&self, answer: &Value, is_loja: bool) {
        let request = answer["request"].as_str().unwrap();
        let path = request.split_once(' ').map_or(request, |(_, path)| path);
        let path = path.split('?').next().unwrap_or_default().to_owned();
        let body = match answer["body_base64"].as_str() {
            Some(body) => STANDARD.decode(body).unwrap(),
            None if is_loja && answer["status"] == 200 => order(&answer["body"]).to_string().into_bytes(),
            None => {
                answer["body_utf8"].as_str().map_or_else(|| answer["body"].to_string(), str::to_owned).into()
            }
        };
        let one = Scripted { status: status(answer), headers: headers(answer), orders: Vec::new(), body };
        let times = usize::try_from(answer["times"].as_u64().unwrap_or(1)).unwrap();
        let answers = std::iter::repeat_n(one, times);
        let resources = &mut self.inner.lock().unwrap().resources;
        match resources.iter_mut().find(|resource| resource.path == path) {
            Some(resource) => {
                if std::mem::take(&mut resource.is_done) {
                    resource.answers.clear();
                }
                resource.answers.extend(answers);
            }
            None => resources.push(Resource {
                path,
                asked: 0,
                is_list: false,
                answers: answers.collect(),
                is_done: false,
            }),
        }
    }

    /// Whether some address has an answer that was not given yet.
    pub(crate) fn has_resource(&self) -> bool {
        self.inner.lock().unwrap().resources.iter().any(|resource| !resource.is_done)
    }

    /// Addresses that have answers which nobody wanted.
    pub(crate) fn never_asked(&self) -> Vec<String> {
        let inner = self.inner.lock().unwrap();
        let never = inner.resources.iter().filter(|resource| resource.asked == 0);
        never.map(|resource| resource.path.clone()).collect()
    }

    /// Whether a list was begun, and answers of it are left.
    pub(crate) fn is_within_a_list(&self) -> bool {
        let inner = self.inner.lock().unwrap();
        inner.resources.iter().any(|resource| resource.is_list && !resource.is_done)
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

async fn answer(State(api): State<Api>, request: Request) -> Response<Body> {
    let mut inner = api.inner.lock().unwrap();
    let reads_lists = inner.reads_lists;
    if let Some(resource) = inner.resources.iter_mut().find(|resource| resource.is_at(request.uri())) {
        let scripted = if reads_lists { resource.next_page() } else { resource.next() };
        if reads_lists && scripted.status == 200 {
            inner.items.extend(items(&scripted.body));
        }
        return scripted.response();
    }
    let since = since(request.uri().query().unwrap_or_default());
    inner.since.extend(since);
    match inner.script.pop_front() {
        Some(scripted) => {
            inner.served.extend(scripted.orders.iter().cloned());
            scripted.response()
        }
        None if since.is_none() => Response::builder().status(404).body(Body::empty()).unwrap(),
        None => Response::new(Body::from(json!({"data": [], "next": null}).to_string())),
    }
}

impl Resource {
    /// Whether it is asked for: the case may have more in front of the path, which belongs to the API's base.
    fn is_at(&self, asked: &Uri) -> bool {
        self.path.ends_with(asked.path())
    }

    fn next_page(&mut self) -> Scripted {
        self.is_list = true;
        match self.is_done {
            true => self.answers[0].without_items(),
            false => self.next(),
        }
    }

    fn next(&mut self) -> Scripted {
        self.asked += 1;
        if self.answers.len() > 1 {
            return self.answers.pop_front().unwrap();
        }
        self.is_done = true;
        self.answers[0].clone()
    }
}

impl Scripted {
    /// The page after the last, in the same shape.
    fn without_items(&self) -> Self {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        match &mut body {
            Value::Array(items) => items.clear(),
            Value::Object(members) => {
                members.values_mut().filter(|value| value.is_array()).for_each(|items| *items = json!([]));
                members.insert("has_more".to_owned(), false.into());
            }
            _ => {}
        }
        let body = body.to_string().into_bytes();
        Self { status: 200, headers: Vec::new(), orders: Vec::new(), body }
    }

    fn response(self) -> Response<Body> {
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(Body::from(self.body)).unwrap()
    }
}

/// What a page holds: the answer itself, or the first list in it.
fn items(body: &[u8]) -> Vec<Value> {
    match serde_json::from_slice(body) {
        Ok(Value::Array(items)) => items,
        Ok(Value::Object(members)) => {
            members.into_iter().find_map(|(_, value)| value.as_array().cloned()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
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
    Scripted {
        status: status(answer),
        headers: headers(answer),
        orders: data.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect(),
        body: json!({"data": data, "next": next}).to_string().into_bytes(),
    }
}

fn status(answer: &Value) -> u16 {
    u16::try_from(answer["status"].as_u64().unwrap()).unwrap()
}

fn headers(answer: &Value) -> Vec<(String, String)> {
    let headers = answer["headers"].as_object().cloned().unwrap_or_default();
    headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
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
