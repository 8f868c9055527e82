//! Whole runs against a little Ordem in memory: a receiver that stumbles, the rules of the `order` flow, a publisher
//! and a poller.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use sandbox::{
    ledger::{
        self, Ledger,
        views::{EffectRow, EventRow, OrderRow, Views},
    },
    sender::{SIGNATURE_HEADER, sign},
};
use secrecy::SecretString;
use serde_json::Value;
use tokio::{net::TcpListener, sync::mpsc};

use crate::world::{WEBHOOK_SECRET, World, settings};

const LANES: usize = 8;

/// Ordem in miniature.
struct Little {
    state: Mutex<Rows>,
    lanes: Vec<mpsc::UnboundedSender<(String, &'static str)>>,
}

#[derive(Default)]
struct Rows {
    requests: u64,
    events: HashMap<String, ()>,
    polled: u64,
    orders: BTreeMap<String, Order>,
    delivered: Vec<(String, &'static str)>,
}

#[derive(Default)]
struct Order {
    facts: BTreeMap<u64, (String, Option<String>, i64)>,
    effects: Vec<&'static str>,
    /// Only webhooks tell it.
    currency: Option<String>,
}

impl Order {
    fn status(&self) -> Option<String> {
        self.facts.last_key_value().map(|(_, fact)| fact.0.clone())
    }

    fn knows(&self, status: &str) -> bool {
        self.facts.values().any(|fact| fact.0 == status)
    }

    /// Applies a fact; returns the effects that it brings forth.
    fn apply(&mut self, sequence: u64, fact: (String, Option<String>, i64)) -> Vec<&'static str> {
        let before = self.status();
        self.facts.entry(sequence).or_insert(fact);
        let after = self.status();
        let enters = |status: &str| after != before && after.as_deref() == Some(status);
        let mut wanted = Vec::new();
        if enters("paid") {
            wanted.push("release_picking");
        }
        let released = self.effects.contains(&"release_picking");
        if self.knows("canceled") && released && !self.knows("shipped") {
            wanted.push("halt_picking");
        }
        if enters("refunded") {
            wanted.push("notify_refund");
        }
        wanted.retain(|effect| !self.effects.contains(effect));
        self.effects.extend(&wanted);
        wanted
    }
}

impl Little {
    fn apply(&self, rows: &mut Rows, order: &str, sequence: u64, fact: (String, Option<String>, i64)) {
        let effects = rows.orders.entry(order.to_owned()).or_default().apply(sequence, fact);
        for effect in effects {
            let lane = order.bytes().map(usize::from).sum::<usize>() % LANES;
            self.lanes[lane].send((order.to_owned(), effect)).unwrap();
        }
    }

    fn poll(&self, listed: &[Value]) {
        let mut rows = self.state.lock().unwrap();
        for row in listed {
            let order = row["id"].as_str().unwrap();
            let sequence = row["sequence"].as_u64().unwrap();
            let newest = rows.orders.get(order).and_then(|order| order.facts.last_key_value());
            if newest.is_some_and(|(newest, _)| *newest >= sequence) {
                continue;
            }
            let status = row["status"].as_str().unwrap().replace("open", "created");
            let email = row["customer_email"].as_str().map(str::to_owned);
            let fact = (status, email, row["total_cents"].as_i64().unwrap());
            rows.polled += 1;
            self.apply(&mut rows, order, sequence, fact);
        }
    }

    fn views(&self) -> Views {
        let rows = self.state.lock().unwrap();
        let webhook = |event: &String| EventRow {
            event: Some(event.clone()),
            origin: "webhook".into(),
            outcome: Some("applied".into()),
        };
        let polled = (0..rows.polled).map(|_| EventRow {
            event: None,
            origin: "reconcile".into(),
            outcome: Some("applied".into()),
        });
        let order = |(id, order): (&String, &Order)| OrderRow {
            id: id.clone(),
            status: order.status().unwrap(),
            version: order
                .facts
                .last_key_value()
                .map(|(version, _)| i64::try_from(*version).unwrap())
                .unwrap(),
            currency: order.currency.clone(),
            total_minor: order.facts.values().next().map(|fact| fact.2),
            customer_email: order.facts.values().rev().find_map(|fact| fact.1.clone()),
        };
        let effect = |(order, effect): &(String, &str)| EffectRow {
            order: order.clone(),
            effect: (*effect).into(),
            state: "delivered".into(),
        };
        Views {
            orders: rows.orders.iter().map(order).collect(),
            events: rows.events.keys().map(webhook).chain(polled).collect(),
            effects: rows.delivered.iter().map(effect).collect(),
        }
    }
}

/// Stores and applies; now and then it refuses, or stores and says that it did not.
async fn receive(State(little): State<Arc<Little>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let signature = sign(&SecretString::from(WEBHOOK_SECRET), &body);
    if headers.get(SIGNATURE_HEADER).is_none_or(|given| *given != *signature) {
        return StatusCode::UNAUTHORIZED;
    }
    let event: Value = serde_json::from_slice(&body).unwrap();
    let mut rows = little.state.lock().unwrap();
    rows.requests += 1;
    if rows.requests.is_multiple_of(40) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let id = event["id"].as_str().unwrap().to_owned();
    if rows.events.insert(id, ()).is_none() {
        let data = &event["data"];
        let status = event["type"].as_str().unwrap().strip_prefix("order.").unwrap();
        let email = data["customer_email"].as_str().map(str::to_owned);
        let fact = (status.to_owned(), email, data["total_cents"].as_i64().unwrap());
        let sequence = event["sequence"].as_u64().unwrap();
        let order = data["id"].as_str().unwrap();
        little.apply(&mut rows, order, sequence, fact);
        rows.orders.get_mut(order).unwrap().currency = data["currency"].as_str().map(str::to_owned);
    }
    if rows.requests.is_multiple_of(30) {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    StatusCode::OK
}

/// Delivers what comes on one lane, one after the other.
async fn publish(
    world: Arc<World>,
    little: Arc<Little>,
    mut lane: mpsc::UnboundedReceiver<(String, &'static str)>,
) {
    while let Some((order, effect)) = lane.recv().await {
        world.deliver(&order, effect, &format!("{order}/{effect}")).await;
        little.state.lock().unwrap().delivered.push((order, effect));
    }
}

/// Lives through so many orders; returns the ledger as soon as it is clean, or after a while.
async fn run(orders: u64, lossless: bool) -> Ledger {
    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/webhooks/loja", receiver.local_addr().unwrap());
    let mut settings = settings(&url);
    if lossless {
        settings.lost = 0.0;
    }
    let world = Arc::new(World::start(settings).await);
    let (lanes, ends): (Vec<_>, Vec<_>) = (0..LANES).map(|_| mpsc::unbounded_channel()).unzip();
    let state = Mutex::default();
    let little = Arc::new(Little { state, lanes });
    for end in ends {
        tokio::spawn(publish(world.clone(), little.clone(), end));
    }
    let routes = Router::new().route("/webhooks/loja", post(receive));
    let routes = routes.with_state(little.clone());
    tokio::spawn(axum::serve(receiver, routes).into_future());
    assert!(world.sandbox.begin(orders));
    for _ in 0..150 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if !lossless {
            little.poll(&world.all_orders("1970-01-01T00:00:00Z", "250").await);
        }
        let progress = world.sandbox.progress();
        if progress.orders == orders && progress.unsent == 0 {
            let ledger = ledger::compare(&world.sandbox.evidence(), &little.views());
            if ledger.is_clean() {
                return ledger;
            }
        }
    }
    ledger::compare(&world.sandbox.evidence(), &little.views())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_losses_duplicates_and_failures_ends_clean_by_the_rules_of_the_order_flow() {
    let ledger = run(600, false).await;
    assert!(ledger.is_clean(), "{:#?}", ledger.differences);
    assert_eq!(ledger.orders_equal, 600);
    assert!(ledger.never_sent > 0 && ledger.recovered > 0, "{ledger:?}");
    assert!(ledger.repeated_calls > 0, "{ledger:?}");
    assert!(ledger.receive_p99_ms > 0.0, "{ledger:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_losses_needs_no_poller() {
    let ledger = run(200, true).await;
    assert!(ledger.is_clean(), "{:#?}", ledger.differences);
    assert_eq!((ledger.never_sent, ledger.recovered), (0, 0));
}
