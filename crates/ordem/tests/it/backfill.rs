//! `ordem backfill`.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::StatusCode,
    routing::get,
};
use serde_json::{Value, json};

use crate::world::{Said, World, ordem};

const FROM: &str = "2026-01-02T03:00:10Z";
const TO: &str = "2026-01-02T03:00:44Z";

#[derive(serde::Deserialize)]
struct Asked {
    updated_since: String,
    page_token: Option<usize>,
}

/// A store with an order a second from 03:00:00 on, ten on a page.
#[derive(Clone, Default)]
struct Store {
    asked: Arc<Mutex<Vec<String>>>,
    /// The page from which on it fails.
    fails_from: Arc<Mutex<Option<usize>>>,
}

impl Store {
    /// Starts it, and tells its address.
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/orders", get(page)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    fn pages_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

async fn page(
    State(store): State<Store>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, (StatusCode, &'static str)> {
    store.asked.lock().unwrap().push(asked.updated_since.clone());
    let page = asked.page_token.unwrap_or(0);
    if store.fails_from.lock().unwrap().is_some_and(|from| page >= from) {
        return Err((StatusCode::FORBIDDEN, ""));
    }
    let orders: Vec<Value> = (0..120)
        .map(|at| format!("2026-01-02T03:{:02}:{:02}Z", at / 60, at % 60))
        .enumerate()
        .filter(|(_, instant)| *instant >= asked.updated_since)
        .map(|(at, instant)| {
            json!({
                "id": format!("ped_{at}"), "status": "paid", "sequence": 2, "updated_at": instant,
                "total_cents": 12990, "customer_email": "ana@example.com",
            })
        })
        .collect();
    let rest: Vec<Value> = orders.iter().skip(page * 10).take(10).cloned().collect();
    let next = (orders.len() > (page + 1) * 10).then(|| (page + 1).to_string());
    Ok(Json(json!({ "data": rest, "next": next })))
}

/// Runs it with nothing but the database and the API set.
fn backfill(world: &World, api: &str, arguments: &[&str]) -> Said {
    let database = world.database.url();
    let environment =
        [("DATABASE_URL", database.as_str()), ("LOJA_API_URL", api), ("LOJA_API_TOKEN", "s3cr3t-token")];
    let said = ordem(&environment, &[&["backfill", "loja"], arguments].concat());
    assert!(!said.out.contains("s3cr3t") && !said.err.contains("s3cr3t"), "{}{}", said.out, said.err);
    said
}

async fn stored(world: &World) -> i64 {
    world.database.count("select count(*) from ordem.events where origin = 'backfill'").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_is_read_with_progress_and_a_second_run_stores_nothing() {
    let (world, store) = (World::new().await, Store::default());
    let api = store.start().await;
    let window = ["--from", FROM, "--to", TO];
    let said = backfill(&world, &api, &window).expect(0);
    assert!(said.out.starts_with("the whole window; pages: 11, items: 110, stored: 35, in "), "{}", said.out);
    assert!(
        said.err.contains("loja from 2026-01-02 03:00:10.000Z to 2026-01-02 03:00:44.000Z, into database "),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("pages: 1, items: 10, stored: 10, up to 2026-01-02 03:00:19.000Z\n")
            && said.err.ends_with("pages: 11, items: 110, stored: 35, up to 2026-01-02 03:00:44.000Z\n"),
        "{}",
        said.err
    );
    let ends = "select min(body::text) from (select convert_from(body, 'UTF8')::jsonb ->> 'updated_at' as body \
                from ordem_engine.inbox_events) as told";
    assert_eq!(world.text(ends).await, FROM);
    assert_eq!(world.text(&ends.replace("min", "max")).await, TO);
    assert_eq!(world.database.count("select count(*) from ordem_engine.inbox_queue").await, 35);
    assert_eq!(world.database.count("select count(*) from ordem_engine.cursors").await, 0);

    let again = backfill(&world, &api, &[&window[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(
        (&again["pages"], &again["items"], &again["stored"], &again["complete"]),
        (&json!(11), &json!(110), &json!(0), &json!(true))
    );
    assert_eq!((&again["from"], &again["to"], &again["source"]), (&json!(FROM), &json!(TO), &json!("loja")));
    assert!(again["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(stored(&world).await, 35);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_counts_and_stores_nothing() {
    let (world, store) = (World::new().await, Store::default());
    let api = store.start().await;
    let arguments = ["--from", FROM, "--to", TO, "--dry-run"];
    let said = backfill(&world, &api, &arguments).expect(0);
    assert!(said.out.contains("would be stored: 35"), "{}", said.out);
    assert_eq!(stored(&world).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_of_the_operators_role_may_do_it() {
    let (world, store) = (World::new().await, Store::default());
    let api = store.start().await;
    let login = format!("ordem_operator_{}", uuid::Uuid::now_v7().simple());
    world.run(&format!("create role {login} login in role ordem_operator")).await;
    let database = world.database.url_as(&login);
    let environment = [("DATABASE_URL", database.as_str()), ("LOJA_API_URL", &api), ("LOJA_API_TOKEN", "t")];
    let said = ordem(&environment, &["backfill", "loja", "--from", FROM, "--to", TO]);
    world.run(&format!("drop role {login}")).await;
    said.expect(0);
    assert_eq!(stored(&world).await, 35);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_fails_on_the_way_keeps_what_it_stored_and_the_next_one_brings_the_rest() {
    let (world, store) = (World::new().await, Store::default());
    let api = store.start().await;
    *store.fails_from.lock().unwrap() = Some(2);
    let window = ["--from", FROM, "--to", TO, "--json"];
    let said = backfill(&world, &api, &window).expect(1);
    assert_eq!(
        (&said.json()["complete"], &said.json()["pages"], &said.json()["stored"]),
        (&json!(false), &json!(2), &json!(20))
    );
    let reason = "ordem: loja: the provider refuses the token (status 403): check env:LOJA_API_TOKEN: \
                  what is stored stays, run it again";
    assert!(said.err.contains(reason), "{}", said.err);
    *store.fails_from.lock().unwrap() = None;
    assert_eq!(backfill(&world, &api, &window).expect(0).json()["stored"], 15);
    assert_eq!(stored(&world).await, 35);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_that_is_away_is_named_and_ends_with_1() {
    let world = World::new().await;
    let said = backfill(&world, "http://127.0.0.1:1", &["--from", "1h"]).expect(1);
    assert!(said.err.contains("ordem: loja: cannot connect"), "{}", said.err);
    assert!(said.out.starts_with("NOT the whole window; pages: 0, items: 0, stored: 0"), "{}", said.out);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_right_ends_with_2_before_anything_is_asked() {
    let (world, store) = (World::new().await, Store::default());
    let api = store.start().await;
    let reversed = backfill(&world, &api, &["--from", TO, "--to", FROM]).expect(2);
    assert!(reversed.err.contains("before it starts (2026-01-02 03:00:44.000Z)"), "{}", reversed.err);
    let database = world.database.url();
    let unset = ordem(&[("DATABASE_URL", &database)], &["backfill", "loja", "--from", "1h"]).expect(2);
    assert!(unset.err.contains("sources.loja: api_url: env:LOJA_API_URL is not set"), "{}", unset.err);
    let unknown = ordem(&[("DATABASE_URL", &database)], &["backfill", "nobody", "--from", "1h"]).expect(2);
    assert!(
        unknown.err.contains("no source \"nobody\" (there are: loja, pagpolar, stripe, wploja)"),
        "{}",
        unknown.err
    );
    ordem(&[("DATABASE_URL", &database)], &["backfill", "loja"]).expect(2);
    assert_eq!(store.pages_asked(), 0);
}
