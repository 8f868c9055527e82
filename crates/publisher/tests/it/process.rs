//! The real process: killed, stopped, switched off.

use std::{collections::HashMap, time::Duration};

use testkit::{Daemon, eventually, eventually_within};

use crate::{
    sink::{Reply, Sink},
    stage::{SECRET, Stage},
};

fn start(stage: &Stage, sink: &Sink, more: &[(&'static str, &str)]) -> Daemon {
    let mut environment = vec![
        ("FULFILLMENT_URL", sink.url()),
        ("FULFILLMENT_SECRET", SECRET.to_owned()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        ("ORDEM__PUBLISHER__CONCURRENCY", "8".to_owned()),
    ];
    environment.extend(more.iter().map(|(key, value)| (*key, (*value).to_owned())));
    Daemon::start("publisher", &stage.database.url(), &environment)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_it_goes_on_and_repeats_only_what_was_in_flight() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(20))).await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(1000, 1).await;
    // The shortest lease that a call of one second fits in.
    let lease = [("ORDEM__PUBLISHER__LEASE", "2s"), ("ORDEM__PUBLISHER__REQUEST_TIMEOUT", "1s")];
    let mut first = start(&stage, &sink, &lease);
    eventually("some are delivered", true, || async { sink.count() > 300 }).await;
    first.kill();
    assert!(stage.count("delivered").await < 1000, "it was killed in the middle");
    let _second = start(&stage, &sink, &lease);
    eventually("delivered", 1000, || stage.count("delivered")).await;

    let mut times: HashMap<String, usize> = HashMap::new();
    sink.calls().iter().for_each(|call| *times.entry(call.id()).or_default() += 1);
    assert_eq!(times.len(), 1000);
    let repeated = times.values().filter(|times| **times > 1).count();
    // In flight, answered but not yet written, and being written.
    assert!(repeated <= 8 * 3, "{repeated} were repeated");
    assert!(times.values().all(|times| *times <= 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_drains_and_leaves_no_lease_behind() {
    let sink = Sink::start(|_| Reply::status(200).after(Duration::from_millis(200))).await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(500, 1).await;
    let mut daemon = start(&stage, &sink, &[]);
    eventually("in flight", true, || async { sink.count() >= 8 }).await;
    let status = daemon.stop(Duration::from_secs(10)).await;
    assert!(status.success(), "{}", daemon.log());
    let delivered = stage.count("delivered").await;
    assert_eq!(usize::try_from(delivered).unwrap(), sink.count(), "each call that was made is written down");
    let leased =
        "select count(*) from ordem_engine.effect_queue where lease_token is not null or attempts > 0";
    assert_eq!(stage.database.count(leased).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn effects_of_a_destination_that_is_off_wait_and_are_measured() {
    let stage = Stage::new("http://127.0.0.1:9/").await;
    stage.effects(3, 1).await;
    let mut daemon = Daemon::start("publisher", &stage.database.url(), &[]);
    daemon.ready().await;
    let backlog = "ordem_outbox_backlog{destination=\"fulfillment\",state=\"due\"}";
    eventually("the backlog is shown", true, || async { (daemon.metric(backlog).await - 3.0).abs() < 0.1 })
        .await;
    assert_eq!(stage.count("pending").await, 3);
    assert!(daemon.log().contains("FULFILLMENT_URL"), "{}", daemon.log());
    assert!(daemon.stop(Duration::from_secs(5)).await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_metrics_tell_what_it_did() {
    let sink = Sink::start(|call| Reply::status(if call.number == 0 { 400 } else { 200 })).await;
    let stage = Stage::new(&sink.url()).await;
    stage.effects(5, 1).await;
    let mut daemon = start(&stage, &sink, &[]);
    daemon.ready().await;
    let seen = || async {
        let mut numbers = Vec::new();
        for name in [
            "ordem_deliveries_total{destination=\"fulfillment\",result=\"delivered\"}",
            "ordem_deliveries_total{destination=\"fulfillment\",result=\"permanent\"}",
            "ordem_effects_dead_total{destination=\"fulfillment\"}",
            "ordem_delivery_duration_seconds_count{destination=\"fulfillment\"}",
            "ordem_delivery_lag_seconds_count{destination=\"fulfillment\"}",
        ] {
            numbers.push(daemon.metric(name).await.to_string());
        }
        numbers.join(" ")
    };
    eventually_within(Duration::from_secs(10), "metrics", "4 1 1 5 4".to_owned(), seen).await;
    assert!(daemon.log().contains("effect given up"), "{}", daemon.log());
    assert!(!daemon.log().contains("ana@example.com") && !daemon.log().contains(SECRET));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_process_may_serve_destinations_of_its_own() {
    let (sink, heavy) = (Sink::willing().await, Sink::willing().await);
    let mut stage = Stage::new(&sink.url()).await;
    let config = tempfile::tempdir().unwrap();
    let other = "[destinations.heavy]\ntype = \"http\"\nurl = \"env:HEAVY_URL\"\nsigning = \"none\"\n";
    std::fs::write(config.path().join("more.toml"), other).unwrap();
    let config = config.path().display().to_string();
    let start = |names: &str| {
        let heavy_url = heavy.url();
        let more = [
            ("ORDEM_TEST_CONFIG", config.as_str()),
            ("HEAVY_URL", heavy_url.as_str()),
            ("ORDEM__PUBLISHER__DESTINATIONS", names),
        ];
        start(&stage, &sink, &more)
    };
    let (light, _other) = (start("fulfillment"), start(" heavy "));
    stage.effects(20, 1).await;
    stage.destination.name = "heavy".to_owned();
    stage.effect("ped_heavy", "release_picking", 0).await;
    eventually("delivered", 21, || stage.count("delivered")).await;
    assert_eq!((sink.count(), heavy.count()), (20, 1));
    assert!(light.log().contains("fulfillment") && !light.log().contains("heavy"), "{}", light.log());
}

#[test]
fn the_command_line_names_them_too_and_only_the_publishers() {
    let run = |name: &str, args: &[&str]| {
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config");
        let mut command = std::process::Command::new(testkit::bin(name));
        let ended = command.args(["--config", config]).args(args).output().unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let (code, text) = run("publisher", &["--destinations", "fulfillment,nowhere", "--check"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("publisher.destinations: no destination \"nowhere\""), "{text}");
    let (code, text) = run("applier", &["--destinations", "fulfillment"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("for the publisher alone"), "{text}");
}
