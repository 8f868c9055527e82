//! How fast the loop is against a destination on the same machine. Run it alone and optimised:
//! `cargo test --release -p publisher --test it speed -- --ignored --nocapture`

use std::time::{Duration, Instant};

use service::Shutdown;
use testkit::eventually_within;
use tokio::sync::watch;

use crate::{sink::Sink, stage::Stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn deliveries_per_second() {
    let (lanes, each) = (10_000, 2);
    let total = i64::from(lanes * each);
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(lanes, each).await;
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
    println!("{total} deliveries in {seconds:.2} s: {:.0}/s", f64::from(lanes * each) / seconds);
}
