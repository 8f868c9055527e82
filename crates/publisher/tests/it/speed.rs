//! How fast the loop is against a destination on the same machine, and against a plain loop in the same run. Run it
//! alone and optimised: `cargo test --release -p publisher --test it speed -- --ignored --nocapture`

use std::time::{Duration, Instant};

use reqwest::Client;
use service::Shutdown;
use testkit::eventually_within;
use tokio::sync::watch;

use crate::{sink::Sink, stage::Stage};

/// Effects of the loop, and of the plain loop.
const LANES: i32 = 10_000;
const EACH: i32 = 2;
const PLAIN: i32 = 2_000;
const ROUNDS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn deliveries_per_second() {
    for round in 1..=ROUNDS {
        let (ours, plain) = (by_the_loop().await, by_a_plain_loop().await);
        println!("round {round}: {ours:.0}/s, plain loop {plain:.0}/s, ratio {:.1}", ours / plain);
    }
}

async fn by_the_loop() -> f64 {
    let total = i64::from(LANES * EACH);
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(LANES, EACH).await;
    let shutdown = Shutdown::new();
    let (_wake, woken) = watch::channel(0);
    let begun = Instant::now();
    let running = tokio::spawn(publisher::dispatch::run(stage.live_courier(), woken, shutdown.clone()));
    let left = || stage.database.count("select count(*) from ordem_engine.effect_queue");
    eventually_within(Duration::from_secs(120), "nothing is left", 0, left).await;
    let seconds = begun.elapsed().as_secs_f64();
    shutdown.trigger();
    running.await.unwrap();
    assert_eq!(i64::try_from(sink.count()).unwrap(), total);
    f64::from(LANES * EACH) / seconds
}

/// What one writes first: claim one, call, mark it, each committed.
async fn by_a_plain_loop() -> f64 {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(PLAIN, 1).await;
    let (database, http) = (stage.database.client().await, Client::new());
    let claim =
        "update ordem_engine.effect_queue set lease_token = gen_random_uuid(), attempts = attempts + 1,
                        due_at = now() + interval '1 minute'
                  where effect_id = (select effect_id from ordem_engine.effect_queue
                                      where destination = 'fulfillment' and due_at <= now()
                                      order by due_at limit 1 for update skip locked)
              returning effect_id, (select fields from ordem_engine.effects e where e.effect_id = effect_queue.effect_id)";
    let claim = database.prepare(claim).await.unwrap();
    let mark = "with done as (delete from ordem_engine.effect_queue where effect_id = $1)
                insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at)
                values ($1, 'delivered', 1, now())";
    let mark = database.prepare(mark).await.unwrap();
    let begun = Instant::now();
    while let Some(row) = database.query_opt(&claim, &[]).await.unwrap() {
        let id: uuid::Uuid = row.get(0);
        let fields: serde_json::Value = row.get(1);
        let call = http.post(sink.url()).header("idempotency-key", id.to_string()).json(&fields);
        assert!(call.send().await.unwrap().status().is_success());
        database.execute(&mark, &[&id]).await.unwrap();
    }
    assert_eq!(sink.count(), usize::try_from(PLAIN).unwrap());
    f64::from(PLAIN) / begun.elapsed().as_secs_f64()
}
