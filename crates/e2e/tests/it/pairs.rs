//! Orders that are paid and canceled while publishers claim at random: whatever the race, the destination sees a release
//! with its halt behind it, or neither.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, extract::State};
use serde_json::Value;
use testkit::{Event, eventually};

use crate::system::System;

const SETTINGS: &str = r#"
[[flows.order.effects]]
name = "release_picking"
enter = "paid"
destination = "fulfillment"

[[flows.order.effects]]
name = "halt_picking"
reached = "canceled"
requires = "release_picking"
cancels = "release_picking"
destination = "fulfillment"

[destinations.fulfillment]
type = "http"
url = "env:FULFILLMENT_URL"
signing = "none"
secrets = []
"#;
const ORDERS: usize = 400;

type Seen = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

async fn remember(State(seen): State<Seen>, Json(message): Json<Value>) {
    let text = |key: &str| message["data"][key].as_str().unwrap().to_owned();
    seen.lock().unwrap().entry(text("id")).or_default().push(text("effect"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_followed_by_its_halt_or_neither_is_sent() {
    let seen = Seen::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = Router::new().fallback(remember).with_state(seen.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let environment = [("LOJA_WEBHOOK_SECRET", testkit::SECRET), ("FULFILLMENT_URL", url.as_str())];
    let mut system = System::new(SETTINGS, &environment).await;
    for daemon in ["receiver", "applier", "publisher", "publisher"] {
        system.add(daemon).await;
    }
    let receiver = system.target("").replace("/webhooks/", "");
    let client = reqwest::Client::new();
    for order in 0..ORDERS {
        let id = format!("ped_{order}");
        assert_eq!(Event::new(&id, "paid", 1).post(&client, &receiver).await.unwrap(), 200);
        // Some at once, some when the release is about to be claimed, some when it is gone.
        tokio::time::sleep(std::time::Duration::from_millis((order % 12) as u64 * 4)).await;
        assert_eq!(Event::new(&id, "canceled", 2).post(&client, &receiver).await.unwrap(), 200);
    }
    let pending = || system.database.count("select count(*) from ordem.effects where state <> 'pending'");
    eventually("all effects have ended", 2 * i64::try_from(ORDERS).unwrap(), pending).await;
    let seen = seen.lock().unwrap().clone();
    for (order, effects) in &seen {
        assert_eq!(effects, &["release_picking", "halt_picking"], "{order}");
    }
    let canceled = ORDERS - seen.len();
    println!("{} pairs sent, {canceled} canceled", seen.len());
    assert!(canceled > 0 && !seen.is_empty(), "the race never went both ways");
}
