//! The loop of a destination, in this process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use testkit::{eventually, eventually_within};
use tokio::task::JoinHandle;

use crate::{
    running::Running,
    sink::{Reply, Sink},
    stage::{Stage, span},
};

#[tokio::test]
async fn a_notification_wakes_the_loop_long_before_its_poll() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    let running = Running::start(&stage, Duration::from_secs(60));
    // Until the listener listens, its first wake-up tells.
    tokio::time::sleep(Duration::from_millis(500)).await;
    stage.effect("ped_1", "release_picking", 0).await;
    stage.run_sql("select pg_notify('ordem_effects', '')").await;
    eventually("delivered", 1, || stage.count("delivered")).await;
    running.stop().await;
}

#[tokio::test]
async fn without_a_notification_the_poll_finds_what_is_due() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    let running = Running::start(&stage, Duration::from_millis(50));
    for number in 0..3 {
        stage.effect("ped_1", &format!("effect_{number}"), number).await;
    }
    eventually("delivered", 3, || stage.count("delivered")).await;
    running.stop().await;
}

#[tokio::test]
async fn a_long_lane_goes_through_without_waiting_for_polls() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(2, 100).await;
    let running = Running::start(&stage, Duration::from_secs(60));
    eventually("delivered", 200, || stage.count("delivered")).await;
    let first: Vec<_> =
        sink.calls().iter().filter(|call| call.resource() == "ped_1").map(|call| call.json()).collect();
    let places: Vec<u32> = first
        .iter()
        .map(|json| json["data"]["effect"].as_str().unwrap().trim_start_matches("effect_").parse().unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    running.stop().await;
}

#[tokio::test]
async fn no_more_calls_are_in_flight_than_configured() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(5))).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.destination.settings.care.concurrency = Some(4);
    stage.effects(100, 1).await;
    let running = Running::start(&stage, Duration::from_millis(50));
    eventually("delivered", 100, || stage.count("delivered")).await;
    assert!((2..=4).contains(&sink.in_flight_max()), "{}", sink.in_flight_max());
    running.stop().await;
}

#[tokio::test]
async fn a_slow_destination_does_not_hold_up_another() {
    let slow = Sink::start(|_| Reply::status(200).after(Duration::from_secs(5))).await;
    let mut stage = Stage::new(&slow.url()).await;
    stage.destination.name = "slow".to_owned();
    stage.destination.settings.care.concurrency = Some(2);
    stage.effects(50, 1).await;
    let first = Running::start(&stage, Duration::from_millis(50));
    let quick = Sink::willing().await;
    std::fs::write(stage.url_file(), quick.url()).unwrap();
    stage.destination.name = "quick".to_owned();
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let second = Running::start(&stage, Duration::from_millis(50));
    let bound = Duration::from_secs(3);
    eventually_within(bound, "delivered", "delivered".to_owned(), || async { stage.shown(id).await.state })
        .await;
    second.stop().await;
    drop(first);
}

#[tokio::test]
async fn the_stop_finishes_calls_in_flight_and_begins_none() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(300))).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.destination.settings.care.concurrency = Some(4);
    stage.effects(20, 1).await;
    let running = Running::start(&stage, Duration::from_millis(50));
    eventually("in flight", 4, || async { sink.count() }).await;
    running.stop().await;
    assert_eq!(sink.count(), 4);
    assert_eq!(stage.count("delivered").await, 4);
    let leased = "select count(*) from ordem_engine.effect_queue where lease_token is not null";
    assert_eq!(stage.database.count(leased).await, 0);
}

#[tokio::test]
async fn a_destination_that_is_down_costs_no_attempts_and_is_drained_when_it_is_back() {
    let up = Arc::new(AtomicBool::new(false));
    let answers = up.clone();
    let sink =
        Sink::start(move |_| Reply::status(if answers.load(Ordering::SeqCst) { 200 } else { 503 })).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.settings.breaker_failures = 5;
    stage.settings.breaker_pause_max = span(50);
    stage.settings.backoff_base = span(20);
    stage.destination.settings.care.attempts_max = Some(3);
    stage.destination.settings.care.concurrency = Some(8);
    stage.effects(100, 1).await;
    let running = Running::start(&stage, Duration::from_millis(20));
    eventually("probes", true, || async { sink.count() > 40 }).await;
    assert_eq!(stage.count("dead").await, 0);
    let attempts = "select sum(attempts) from ordem_engine.effect_queue";
    let used = stage.database.count(attempts).await;
    assert!(used <= 8 + 8 + 1, "only what was in flight before it opened, and one probe: {used}");
    up.store(true, Ordering::SeqCst);
    eventually("delivered", 100, || stage.count("delivered")).await;
    running.stop().await;
}

#[tokio::test]
async fn a_database_that_is_cut_off_for_a_moment_loses_nothing() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(20))).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.destination.settings.care.concurrency = Some(8);
    stage.effects(200, 2).await;
    let running = Running::start(&stage, Duration::from_millis(50));
    let cutting: JoinHandle<()> = {
        let client = stage.database.client().await;
        tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let sql = "select pg_terminate_backend(pid) from pg_stat_activity
                            where datname = current_database() and pid <> pg_backend_pid()";
                client.query(sql, &[]).await.unwrap();
            }
        })
    };
    cutting.await.unwrap();
    eventually("delivered", 400_i64, || async {
        let sql = "select count(*) from ordem.effects where state = 'delivered'";
        stage.database.client().await.query_one(sql, &[]).await.map_or(0, |row| row.get::<_, i64>(0))
    })
    .await;
    running.stop().await;
}
