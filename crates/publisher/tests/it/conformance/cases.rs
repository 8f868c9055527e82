//! The cases, for any kind.

use std::{
    collections::{BTreeSet, HashMap},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use testkit::{Daemon, eventually, eventually_within};

use super::{Bench, Kind, Mood};
use crate::{running::Running, stage::span};

/// Calls in flight, answered but not yet written, and being written.
const IN_FLIGHT_MAX: usize = 8 * 3;

pub(super) async fn success<K: Kind>() {
    let Some(bench) = Bench::<K>::new().await else { return };
    let id = bench.effect("ped_1").await;
    bench.stage.courier().round().await.unwrap();
    let shown = bench.stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("delivered", 1), "{shown:?}");
    assert_eq!(bench.kind.arrived().await, [id.to_string()]);
}

pub(super) async fn permanent_failure<K: Kind>() {
    let Some(mut bench) = Bench::<K>::new().await else { return };
    if !bench.set(Mood::RefusingForGood).await {
        return;
    }
    let refused = bench.effect("ped_1").await;
    let courier = bench.stage.courier();
    courier.round().await.unwrap();
    let shown = bench.stage.shown(refused).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("dead", 1), "{shown:?}");
    assert!(shown.last_error.is_some());
    assert!(bench.kind.arrived().await.is_empty());

    assert!(bench.set(Mood::Willing).await);
    let next = bench.effect("ped_2").await;
    courier.round().await.unwrap();
    assert_eq!(bench.kind.arrived().await, [next.to_string()]);
}

pub(super) async fn transient_failure_then_success<K: Kind>() {
    let Some(mut bench) = Bench::<K>::new().await else { return };
    assert!(bench.set(Mood::RefusingForNow).await);
    let id = bench.effect("ped_1").await;
    let courier = bench.stage.courier();
    courier.round().await.unwrap();
    let shown = bench.stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("pending", 1), "{shown:?}");
    assert!(shown.last_error.is_some());

    assert!(bench.set(Mood::Willing).await);
    bench.stage.clock.advance_seconds(10);
    courier.round().await.unwrap();
    let shown = bench.stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("delivered", 2), "{shown:?}");
    assert_eq!(bench.kind.arrived().await, [id.to_string()]);
}

pub(super) async fn time_out<K: Kind>() {
    let Some(mut bench) = Bench::<K>::new().await else { return };
    bench.stage.care().request_timeout = Some(span(1500));
    if !bench.set(Mood::Silent).await {
        return;
    }
    let id = bench.effect("ped_1").await;
    let courier = bench.stage.courier();
    let begun = Instant::now();
    courier.round().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "it was waited for {:?}", begun.elapsed());
    let shown = bench.stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("pending", 1), "{shown:?}");
    assert!(shown.last_error.as_ref().unwrap().contains("in time"), "{shown:?}");

    assert!(bench.set(Mood::Willing).await);
    bench.stage.clock.advance_seconds(10);
    courier.round().await.unwrap();
    assert_eq!(bench.stage.shown(id).await.state, "delivered");
    let arrived = bench.kind.arrived().await;
    assert!((1..=2).contains(&arrived.len()), "{arrived:?}");
    assert!(arrived.iter().all(|key| *key == id.to_string()), "{arrived:?}");
}

pub(super) async fn slow_answer_within_time<K: Kind>() {
    let Some(mut bench) = Bench::<K>::new().await else { return };
    bench.stage.care().request_timeout = Some(span(10_000));
    let id = bench.effect("ped_1").await;
    let courier = bench.stage.courier();
    if !bench.set(Mood::Slow).await {
        return;
    }
    let begun = Instant::now();
    courier.round().await.unwrap();
    assert!(begun.elapsed() > Duration::from_millis(200), "it was not slow");
    let shown = bench.stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts), ("delivered", 1), "{shown:?}");
    assert_eq!(bench.kind.arrived().await, [id.to_string()]);
}

pub(super) async fn duplicate<K: Kind>() {
    let Some(bench) = Bench::<K>::new().await else { return };
    let id = bench.effect("ped_1").await;
    let courier = bench.stage.courier();
    // Carried, and then its publisher dies before it has written that down.
    let leased = courier.claim(Timestamp::UNIX_EPOCH, 1).await.unwrap();
    let report = courier.deliver(&leased.claim.effects[0], leased.expires, false).await;
    assert!(report.is_some());
    bench.stage.clock.advance_seconds(3600);
    bench.stage.courier().round().await.unwrap();
    let shown = bench.stage.shown(id).await;
    assert_eq!(shown.state, "delivered", "{shown:?}");
    let arrived = bench.kind.arrived().await;
    assert!((1..=2).contains(&arrived.len()), "{arrived:?}");
    assert!(arrived.iter().all(|key| *key == id.to_string()), "{arrived:?}");
}

pub(super) async fn restart_of_the_destination_in_the_middle<K: Kind>() {
    let Some(mut bench) = Bench::<K>::new().await else { return };
    bench.stage.care().request_timeout = Some(span(2000));
    bench.stage.effects(60, 1).await;
    let running = Running::start(&bench.stage, Duration::from_millis(100));
    eventually("some are there", true, || async { bench.kind.arrived().await.len() > 5 }).await;
    bench.kind.down().await;
    // Whatever the first ones made of it, these find it gone.
    for number in 0..20 {
        bench.effect(&format!("late_{number}")).await;
    }
    let failed = "select count(*) from ordem_engine.delivery_attempts where result = 'transient'";
    eventually("failed attempts", true, || async { bench.stage.database.count(failed).await > 0 }).await;
    bench.kind.up().await;
    eventually_within(Duration::from_secs(60), "delivered", 80, || bench.stage.count("delivered")).await;
    running.stop().await;
    let (distinct, _) = counted(&bench.kind.arrived().await);
    assert_eq!(distinct, 80);
}

pub(super) async fn restart_of_the_publisher_in_the_middle<K: Kind>() {
    let Some(bench) = Bench::<K>::new().await else { return };
    bench.stage.effects(300, 1).await;
    let mut first = publisher(&bench);
    eventually("some are there", true, || async { bench.kind.arrived().await.len() > 20 }).await;
    first.kill();
    let _second = publisher(&bench);
    eventually_within(Duration::from_secs(60), "delivered", 300, || bench.stage.count("delivered")).await;
    let (distinct, repeated) = counted(&bench.kind.arrived().await);
    assert_eq!(distinct, 300);
    assert!(repeated <= IN_FLIGHT_MAX, "{repeated} came again");
}

fn publisher<K: Kind>(bench: &Bench<K>) -> Daemon {
    let environment = [
        ("ORDEM_TEST_CONFIG", bench.folder.path().display().to_string()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        // The shortest lease that a call of one second fits in.
        ("ORDEM__PUBLISHER__LEASE", "2s".to_owned()),
        ("ORDEM__PUBLISHER__REQUEST_TIMEOUT", "1s".to_owned()),
    ];
    Daemon::start("publisher", &bench.stage.database.url(), &environment)
}

/// How many keys there are, and how many of them came more than once.
fn counted(arrived: &[String]) -> (usize, usize) {
    let mut times: HashMap<&String, usize> = HashMap::new();
    arrived.iter().for_each(|key| *times.entry(key).or_default() += 1);
    let repeated: BTreeSet<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    (times.len(), repeated.len())
}
