//! A destination that is down: others keep their pace, memory stays flat, and what waited goes out at its rate.
//!
//! `make soak` runs it for ten minutes with 50,000 effects (`OUTAGE_SECONDS`, `OUTAGE_EFFECTS`); `make test` for some seconds.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use testkit::{Daemon, eventually_within};

use crate::{
    sink::{Reply, Sink},
    stage::{SECRET, Stage},
};

/// Calls a second of the destination that is down for a while.
const RATE: u32 = 500;
/// Between two effects of the other destination.
const PULSE: Duration = Duration::from_millis(50);

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Writes effects for the healthy destination at an even pace; returns how long each took until it had arrived.
async fn latencies(stage: &Stage, well: &Sink, during: Duration) -> Vec<f64> {
    let client = stage.database.client().await;
    let (first, begun) = (well.count(), Instant::now());
    let mut born = Vec::new();
    let mut ticks = tokio::time::interval(PULSE);
    while begun.elapsed() < during {
        ticks.tick().await;
        let resource = format!("well_{}", first + born.len());
        born.push((resource.clone(), Instant::now()));
        stage.effect_by(&client, &resource, 0).await;
        client.batch_execute("notify ordem_effects").await.unwrap();
    }
    eventually_within(Duration::from_secs(30), "all arrived", first + born.len(), || async { well.count() })
        .await;
    let calls = well.calls();
    let arrived = |resource: &str| calls[first..].iter().find(|call| call.resource() == resource).unwrap().at;
    let mut took: Vec<f64> =
        born.iter().map(|(resource, at)| arrived(resource).duration_since(*at).as_secs_f64()).collect();
    took.sort_by(f64::total_cmp);
    took
}

fn quantile(sorted: &[f64], share: usize) -> f64 {
    sorted[sorted.len() * share / 100]
}

/// Memory of a process in MiB, as Linux tells it; elsewhere it is not measured.
fn memory(daemon: &Daemon) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

fn most_in_a_second(sink: &Sink) -> usize {
    let times: Vec<Instant> = sink.calls().iter().map(|call| call.at).collect();
    let mut from = 0;
    let mut most = 0;
    for (at, time) in times.iter().enumerate() {
        while *time - times[from] >= Duration::from_secs(1) {
            from += 1;
        }
        most = most.max(at - from + 1);
    }
    most
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_that_is_down_holds_up_no_other_and_drains_at_its_rate() {
    let outage = Duration::from_secs(number("OUTAGE_SECONDS", 12));
    let waiting = i32::try_from(number("OUTAGE_EFFECTS", 3000)).unwrap();
    let is_up = Arc::new(AtomicBool::new(true));
    let up = is_up.clone();
    let sick = Sink::start(move |_| Reply::status(if up.load(Ordering::SeqCst) { 200 } else { 503 })).await;
    let well = Sink::willing().await;
    let mut stage = Stage::new(&sick.url()).await;
    let config = tempfile::tempdir().unwrap();
    let text = format!(
        "[destinations.sick]\ntype = \"http\"\nurl = \"env:SICK_URL\"\nsigning = \"none\"\nrate = \"{RATE}/s\"\nbackoff_cap = \"2s\"\n"
    );
    std::fs::write(config.path().join("more.toml"), text).unwrap();
    let environment = [
        ("FULFILLMENT_URL", well.url()),
        ("FULFILLMENT_SECRET", SECRET.to_owned()),
        ("SICK_URL", sick.url()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        ("ORDEM_TEST_CONFIG", config.path().display().to_string()),
    ];
    let mut daemon = Daemon::start("publisher", &stage.database.url(), &environment);
    daemon.ready().await;

    let before = latencies(&stage, &well, (outage / 3).min(Duration::from_secs(60))).await;
    let memory_before = memory(&daemon);

    is_up.store(false, Ordering::SeqCst);
    stage.destination.name = "sick".to_owned();
    stage.effects(waiting, 1).await;
    stage.destination.name = crate::stage::NAME.to_owned();
    let during = latencies(&stage, &well, outage).await;
    let memory_after = memory(&daemon);
    let probes = sick.count();

    is_up.store(true, Ordering::SeqCst);
    let back = Instant::now();
    let drain = Duration::from_secs(60) + Duration::from_secs(2) * u32::try_from(waiting).unwrap() / RATE;
    let left = || stage.database.count("select count(*) from ordem_engine.effect_queue");
    eventually_within(drain, "nothing waits", 0, left).await;
    let (drained, most) = (back.elapsed(), most_in_a_second(&sick));
    let [p50, p95] = [50, 95].map(|share| quantile(&during, share) / quantile(&before, share));
    println!(
        "{waiting} effects waited {outage:?}: latency of the others x{p50:.2} (median {:.1} ms), x{p95:.2} (p95 {:.1} ms); \
         memory {memory_before:.1?} -> {memory_after:.1?} MiB; {probes} calls while it was down; drained in {drained:.1?}, \
         at most {most} in a second of {RATE}",
        quantile(&during, 50) * 1e3,
        quantile(&during, 95) * 1e3,
    );
    // On a machine that other tests keep busy, a few milliseconds say nothing.
    let is_soak = std::env::var_os("OUTAGE_SECONDS").is_some();
    let slower_s = quantile(&during, 50) - quantile(&before, 50);
    assert!(p50 < 1.5 || (!is_soak && slower_s < 0.05), "the others became slower: x{p50:.2}");
    // The breaker lets single probes through, and what was in flight when it opened.
    assert!(probes < 100 + usize::try_from(outage.as_secs()).unwrap(), "{probes} calls while it was down");
    if let (Some(before), Some(after)) = (memory_before, memory_after) {
        assert!(after < before * 1.5 + 8.0, "memory grew from {before:.1} to {after:.1} MiB");
    }
    // The burst of 20 ms may come on top, and on a busy machine calls arrive less evenly than they begin.
    let uneven = if is_soak { RATE / 20 } else { RATE / 8 };
    assert!(most <= (RATE + uneven) as usize, "{most} calls in a second");
    assert_eq!(stage.count("delivered").await, i64::from(waiting) + i64::try_from(well.count()).unwrap());
    assert!(daemon.stop(Duration::from_secs(10)).await.success());
}
