//! A destination's own limits hold over several publishers, and a slow call keeps its lease.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use service::settings::Rate;
use testkit::{eventually, eventually_within};

use crate::{
    running::Running,
    sink::{Reply, Sink},
    stage::{Stage, span},
};

fn per_second(count: u32) -> Rate {
    Rate { count: NonZeroU32::new(count).unwrap(), per: Duration::from_secs(1) }
}

/// Most calls that began within any second.
fn most_in_a_second(sink: &Sink) -> usize {
    let times: Vec<Instant> = sink.calls().iter().map(|call| call.at).collect();
    let counts = times
        .iter()
        .map(|from| times.iter().filter(|at| *at >= from && **at < *from + Duration::from_secs(1)).count());
    counts.max().unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_holds_over_publishers_that_come_and_go() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.care().rate = Some(per_second(50));
    stage.effects(500, 1).await;
    let first = Running::start(&stage, Duration::from_millis(100));
    eventually_within(Duration::from_secs(20), "some are delivered", true, || async { sink.count() >= 60 })
        .await;
    let others: Vec<Running> = (0..2).map(|_| Running::start(&stage, Duration::from_millis(100))).collect();
    eventually_within(Duration::from_secs(60), "more are delivered", true, || async { sink.count() >= 300 })
        .await;
    first.stop().await;
    eventually_within(Duration::from_secs(90), "delivered", 500, || stage.count("delivered")).await;
    for running in others {
        running.stop().await;
    }
    // One burst of a fiftieth more may begin with each change.
    assert!(most_in_a_second(&sink) <= 55, "{}", most_in_a_second(&sink));
    assert_eq!(sink.count(), 500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_does_a_limit_of_calls_at_a_time() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(30))).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.care().concurrency = Some(5);
    stage.effects(700, 1).await;
    let publishers: Vec<Running> =
        (0..3).map(|_| Running::start(&stage, Duration::from_millis(100))).collect();
    eventually_within(Duration::from_secs(90), "delivered", 700, || stage.count("delivered")).await;
    for running in publishers {
        running.stop().await;
    }
    assert!(sink.in_flight_max() <= 5, "{}", sink.in_flight_max());
    assert_eq!(sink.count(), 700);
    assert_eq!(stage.database.count("select count(*) from ordem_engine.publishers").await, 0, "they left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_takes_longer_than_its_lease_is_made_once() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(3500))).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.settings.lease = span(1000);
    stage.settings.request_timeout = span(20_000);
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let publishers: Vec<Running> =
        (0..2).map(|_| Running::start(&stage, Duration::from_millis(50))).collect();
    eventually("delivered", 1, || stage.count("delivered")).await;
    for running in publishers {
        running.stop().await;
    }
    assert_eq!((sink.count(), stage.shown(id).await.attempts), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_its_turn_is_given_back_at_the_stop() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.care().rate = Some(Rate { count: NonZeroU32::MIN, per: Duration::from_secs(3600) });
    stage.effects(3, 1).await;
    let running = Running::start(&stage, Duration::from_millis(50));
    eventually("delivered", 1, || stage.count("delivered")).await;
    let leased = || {
        stage.database.count("select count(*) from ordem_engine.effect_queue where lease_token is not null")
    };
    eventually("one waits for its turn", 1, leased).await;
    running.stop().await;
    assert_eq!(leased().await, 0);
    let tried = "select count(*) from ordem_engine.effect_queue where attempts > 0";
    assert_eq!((stage.database.count(tried).await, sink.count()), (0, 1));
}
