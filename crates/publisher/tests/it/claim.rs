//! A claim stays quick whatever waits, and its plan reads no more than it needs.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::{
    sink::{Reply, Sink},
    stage::{NAME, Stage},
};

/// The plan of the claim as the daemon's connections make it.
async fn plan(stage: &Stage) -> String {
    let client = stage.pool.get().await.unwrap();
    let sql = include_str!("../../../db/src/outbox/claim.sql");
    let prepared =
        format!("prepare claim (text, timestamptz, timestamptz, timestamptz, int8, int8) as {sql}");
    client.batch_execute(&prepared).await.unwrap();
    let explain = format!(
        "explain (analyze, buffers) execute claim ('{NAME}', 'epoch', now() + interval '1 minute', now() + interval '2 minutes', 64, 144)"
    );
    client.batch_execute("begin").await.unwrap();
    let rows = client.query(&explain, &[]).await.unwrap();
    client.batch_execute("rollback; deallocate claim").await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0) + "\n").collect()
}

/// The claims' own times, until nothing comes.
async fn drain(stage: &Stage) -> (usize, Vec<Duration>) {
    let courier = stage.courier();
    let (mut claimed, mut times) = (0, Vec::new());
    loop {
        let begun = Instant::now();
        let leased = courier.claim(Timestamp::UNIX_EPOCH, 64).await.unwrap();
        times.push(begun.elapsed());
        claimed += leased.claim.effects.len();
        if !leased.claim.more {
            times.sort();
            println!(
                "{} claims, median {:?}, longest {:?}",
                times.len(),
                median(&times),
                times[times.len() - 1]
            );
            return (claimed, times);
        }
    }
}

fn median(times: &[Duration]) -> Duration {
    times[times.len() / 2]
}

#[tokio::test]
async fn plans_made_for_an_empty_queue_serve_a_full_one() {
    let stage = Stage::new("http://127.0.0.1:9/").await;
    stage.run_sql("analyze ordem_engine.effect_queue; analyze ordem_engine.effects").await;
    stage.effects(25_000, 2).await;
    let plan = plan(&stage).await;
    assert!(
        !plan.contains("Seq Scan") && !plan.contains("Hash Join") && !plan.contains("Merge Join"),
        "{plan}"
    );
    assert!(plan.contains("effect_queue_due") && plan.contains("effect_queue_lane"), "{plan}");
}

#[tokio::test]
async fn fifty_thousand_effects_are_claimed_in_quick_steps() {
    let stage = Stage::new("http://127.0.0.1:9/").await;
    stage.effects(50_000, 1).await;
    let (claimed, times) = drain(&stage).await;
    assert_eq!(claimed, 50_000);
    assert!(median(&times) < Duration::from_millis(60), "{:?}", median(&times));
}

#[tokio::test]
async fn followers_of_a_lane_that_waits_are_looked_at_once() {
    let sink = Sink::start(|_| Reply::status(500)).await;
    let stage = Stage::new(&sink.url()).await;
    // One lane of 20,000: its head is due, all others stand behind it.
    stage.effects(1, 20_000).await;
    let (claimed, times) = drain(&stage).await;
    assert_eq!(claimed, 1);
    assert!(times.len() > 100, "they were held back in steps: {}", times.len());
    let other = stage.effect("ped_2", "release_picking", 0).await;
    let plan = plan(&stage).await;
    assert!(plan.contains("rows=1 "), "{plan}");
    stage.courier().round().await.unwrap();
    assert_eq!(stage.shown(other).await.attempts, 1, "the other lane goes at once");
    let due = "select count(*) from ordem_engine.effect_queue
                where lane = hashtextextended('ped_1', 0) and due_at <= now()";
    assert_eq!(stage.database.count(due).await, 0);
}
