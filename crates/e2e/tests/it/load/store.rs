//! The store: its API shows each order once all its webhooks were tried.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use domain::Clock;
use jiff::Timestamp;
use serde_json::{Value, json};
use service::SystemClock;

use super::{
    http::{self, Reply, Request},
    plan::Order,
};

/// The largest page.
const LIMIT: usize = 50;
pub(crate) const TOKEN: &str = "token-da-loja";

/// Orders by the instant they changed at.
type Changed = BTreeMap<(Timestamp, String), Value>;

#[derive(Clone)]
pub(crate) struct Store {
    changed: Arc<Mutex<Changed>>,
    requests: Arc<AtomicUsize>,
    port: u16,
}

impl Store {
    pub(crate) async fn start() -> Self {
        let (changed, requests) = (Arc::<Mutex<Changed>>::default(), Arc::<AtomicUsize>::default());
        let (shown, count) = (changed.clone(), requests.clone());
        let port = http::serve(move |request| {
            // Now and then it has enough.
            if count.fetch_add(1, Ordering::SeqCst) % 7 == 3 {
                return Reply::status(500);
            }
            answer(&shown.lock().unwrap(), &request)
        })
        .await;
        Self { changed, requests, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn show(&self, order: &Order) {
        let now = SystemClock.now();
        let item = order.item(&now.to_string());
        self.changed.lock().unwrap().insert((now, order.id.clone()), item);
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn answer(changed: &Changed, request: &Request) -> Reply {
    if request.headers.get("authorization").map(String::as_str) != Some(&format!("Bearer {TOKEN}")) {
        return Reply::status(401);
    }
    let query = request.path.split_once('?').unwrap_or_default().1;
    let parameter = |name: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pair.map(|value| value.replace("%3A", ":").replace("%7C", "|"))
    };
    let Some(since) = parameter("updated_since").and_then(|since| since.parse::<Timestamp>().ok()) else {
        return Reply::status(400);
    };
    let token = parameter("page_token");
    let name = |(instant, id): &(Timestamp, String)| format!("{instant}|{id}");
    let mut rest = changed
        .iter()
        .filter(|(key, _)| key.0 >= since)
        .skip_while(|(key, _)| token.as_ref().is_some_and(|token| name(key) != *token));
    let data: Vec<&Value> = rest.by_ref().take(LIMIT).map(|(_, item)| item).collect();
    let next = rest.next().map(|(key, _)| name(key));
    Reply::Answer {
        status: 200,
        body: json!({"data": data, "next": next}).to_string(),
        after: std::time::Duration::ZERO,
    }
}
