//! A store's order API that does what the test tells it to, and remembers what it was asked.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    extract::{Query, Request, State},
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::time::Instant;

/// The token that the store's own configuration in the tests has.
pub(crate) const TOKEN: &str = "s3cr3t-token";

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) authorization: Option<String>,
    pub(crate) at: Instant,
}

/// An answer out of the ordinary.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// The ordinary one.
    Page,
    /// A status with a header.
    Status(u16, &'static str, String),
    /// A success with this body.
    Body(String),
    /// The ordinary one, after a while.
    Slow(Duration),
}

type AfterPage = Box<dyn FnMut(usize, &mut Orders) + Send>;

/// Orders by id.
pub(crate) type Orders = BTreeMap<String, Value>;

#[derive(Default)]
struct Inner {
    orders: Orders,
    seen: Vec<Seen>,
    script: VecDeque<Answer>,
    pages: usize,
    page_size: usize,
    after_page: Option<AfterPage>,
}

/// The store.
#[derive(Clone)]
pub(crate) struct Store {
    inner: Arc<Mutex<Inner>>,
    pub(crate) address: SocketAddr,
}

impl Store {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Mutex::new(Inner { page_size: 100, ..Inner::default() }));
        let router = Router::new().fallback(answer).with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { inner, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        change(&mut self.inner.lock().unwrap())
    }

    /// Puts an order into its state, or changes it.
    pub(crate) fn put(&self, id: &str, status: &str, sequence: i64, updated_at: &str) {
        self.with(|inner| inner.orders.insert(id.to_owned(), order(id, status, sequence, updated_at)));
    }

    pub(crate) fn put_raw(&self, id: &str, item: Value) {
        self.with(|inner| inner.orders.insert(id.to_owned(), item));
    }

    /// `count` orders, one a second from 03:00:00 on.
    pub(crate) fn fill(&self, count: usize) {
        for at in 0..count {
            let instant = format!("2026-01-02T03:{:02}:{:02}Z", at / 60, at % 60);
            self.put(&format!("ped_{at:03}"), "paid", 2, &instant);
        }
    }

    pub(crate) fn page_size(&self, size: usize) {
        self.with(|inner| inner.page_size = size);
    }

    /// The next requests get these answers, then the ordinary ones.
    pub(crate) fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        self.with(|inner| inner.script.extend(answers));
    }

    /// Runs after each ordinary page, with its number from 0.
    pub(crate) fn after_page(&self, change: impl FnMut(usize, &mut Orders) + Send + 'static) {
        self.with(|inner| inner.after_page = Some(Box::new(change)));
    }

    /// How many orders are in this status.
    pub(crate) fn count(&self, status: &str) -> i64 {
        self.with(|inner| inner.orders.values().filter(|order| order["status"] == status).count()) as i64
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.with(|inner| inner.seen.clone())
    }

    pub(crate) fn queries(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.query).collect()
    }
}

/// An order as the API tells it.
pub(crate) fn order(id: &str, status: &str, sequence: i64, updated_at: &str) -> Value {
    json!({
        "id": id, "status": status, "sequence": sequence, "updated_at": updated_at,
        "total_cents": 12990, "customer_email": format!("{id}@example.com"),
    })
}

async fn answer(
    State(inner): State<Arc<Mutex<Inner>>>,
    Query(query): Query<HashMap<String, String>>,
    request: Request,
) -> Response {
    let scripted = {
        let mut inner = inner.lock().unwrap();
        let authorization = request.headers().get(header::AUTHORIZATION);
        inner.seen.push(Seen {
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            authorization: authorization.map(|value| value.to_str().unwrap().to_owned()),
            at: Instant::now(),
        });
        inner.script.pop_front().unwrap_or(Answer::Page)
    };
    match scripted {
        Answer::Page => {}
        Answer::Slow(wait) => tokio::time::sleep(wait).await,
        Answer::Body(body) => return body.into_response(),
        Answer::Status(status, name, value) => {
            let status = StatusCode::from_u16(status).unwrap();
            return (status, [(HeaderName::from_static(name), value)], "{}").into_response();
        }
    }
    inner.lock().unwrap().page(&query).into_response()
}

impl Inner {
    /// A page of the list by `(updated_at, id)`, from the token or the instant on.
    fn page(&mut self, query: &HashMap<String, String>) -> String {
        let position =
            |order: &Value| format!("{}|{}", order["updated_at"].as_str().unwrap_or_default(), order["id"]);
        let since = &query["updated_since"];
        let from = query
            .get("page_token")
            .map_or_else(|| (format!("{since}|"), true), |token| (token.clone(), false));
        let mut orders: Vec<&Value> = self.orders.values().collect();
        orders.sort_by_key(|order| position(order));
        let mut found = orders.into_iter().filter(|order| match from.1 {
            true => position(order) >= from.0,
            false => position(order) > from.0,
        });
        let data: Vec<&Value> = found.by_ref().take(self.page_size).collect();
        let next = found.next().and(data.last()).map(|last| position(last));
        let page = json!({ "data": data, "next": next }).to_string();
        if let Some(change) = &mut self.after_page {
            change(self.pages, &mut self.orders);
        }
        self.pages += 1;
        page
    }
}
