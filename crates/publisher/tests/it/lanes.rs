//! The order within a lane, and the freedom of the others.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures_util::future::join_all;
use testkit::eventually;

use crate::{
    running::Running,
    sink::{Reply, Sink},
    stage::{NAME, Stage, span},
};

#[tokio::test]
async fn effects_of_one_resource_arrive_in_order_one_at_a_time() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    for (sequence, effect) in ["first", "second", "third"].into_iter().enumerate() {
        stage.effect("ped_1", effect, i32::try_from(sequence).unwrap()).await;
    }
    let courier = stage.courier();
    for claimed in [1, 1, 1, 0] {
        assert_eq!(courier.round().await.unwrap(), claimed);
    }
    let effects: Vec<_> = sink.calls().iter().map(|call| call.effect()).collect();
    assert_eq!(effects, ["first", "second", "third"]);
}

#[tokio::test]
async fn a_failing_head_holds_its_lane_back_and_no_other() {
    let sink = Sink::start(|call| Reply::status(if call.resource() == "ped_1" { 500 } else { 200 })).await;
    let stage = Stage::new(&sink.url()).await;
    stage.effect("ped_1", "release_picking", 0).await;
    let follower = stage.effect("ped_1", "halt_picking", 1).await;
    let other = stage.effect("ped_2", "release_picking", 0).await;
    let courier = stage.courier();
    courier.round().await.unwrap();
    courier.round().await.unwrap();
    assert_eq!(stage.shown(other).await.state, "delivered");
    let behind = stage.shown(follower).await;
    assert_eq!((behind.state.as_str(), behind.attempts), ("pending", 0));
    assert!(sink.calls().iter().all(|call| call.effect() != "halt_picking"));
}

#[tokio::test]
async fn a_follower_goes_as_soon_as_the_head_is_delivered_after_backoff() {
    let sink = Sink::start(|call| Reply::status(if call.number == 0 { 500 } else { 200 })).await;
    let stage = Stage::new(&sink.url()).await;
    stage.effect("ped_1", "first", 0).await;
    stage.effect("ped_1", "second", 1).await;
    let courier = stage.courier();
    assert_eq!(courier.round().await.unwrap(), 1);
    stage.clock.advance_seconds(2);
    assert_eq!(courier.round().await.unwrap(), 1, "the head again");
    assert_eq!(courier.round().await.unwrap(), 1, "the follower, without any wait");
    let effects: Vec<_> = sink.calls().iter().map(|call| call.effect()).collect();
    assert_eq!(effects, ["first", "first", "second"]);
}

#[tokio::test]
async fn a_dead_head_lets_the_follower_go() {
    let sink = Sink::start(|call| Reply::status(if call.effect() == "first" { 410 } else { 200 })).await;
    let stage = Stage::new(&sink.url()).await;
    let head = stage.effect("ped_1", "first", 0).await;
    let follower = stage.effect("ped_1", "second", 1).await;
    let courier = stage.courier();
    courier.round().await.unwrap();
    courier.round().await.unwrap();
    assert_eq!(stage.shown(head).await.state, "dead");
    assert_eq!(stage.shown(follower).await.state, "delivered");
}

#[tokio::test]
async fn what_an_operator_puts_back_waits_for_the_one_on_its_way_and_then_goes_first() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    let flying = stage.effect("ped_1", "second", 1).await;
    let courier = stage.courier();
    let leased = courier.claim(jiff::Timestamp::UNIX_EPOCH, 8).await.unwrap();
    assert_eq!(leased.claim.effects.len(), 1);
    stage.effect("ped_1", "third", 2).await;
    let put_back = stage.effect("ped_1", "first", 0).await;
    assert_eq!(courier.round().await.unwrap(), 0, "one of a lane at a time");
    let report = courier.deliver(&leased.claim.effects[0], leased.expires, false).await.unwrap();
    courier.record(&[report]).await.unwrap();
    assert_eq!(stage.shown(flying).await.state, "delivered");
    courier.round().await.unwrap();
    assert_eq!(stage.shown(put_back).await.state, "delivered");
    courier.round().await.unwrap();
    let effects: Vec<_> = sink.calls().iter().map(|call| call.effect()).collect();
    assert_eq!(effects, ["second", "first", "third"]);
}

#[tokio::test]
async fn a_paused_destination_waits_until_it_is_resumed() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    stage
        .run_sql(&format!(
            "insert into ordem_engine.paused_destinations values ('{NAME}', now(), 'stocktaking')"
        ))
        .await;
    assert_eq!(courier.round().await.unwrap(), 0);
    stage.run_sql("delete from ordem_engine.paused_destinations").await;
    assert_eq!(courier.round().await.unwrap(), 1);
    assert_eq!(stage.count("delivered").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn effects_that_come_while_their_lane_is_under_way_are_never_forgotten() {
    let sink = Sink::start(|call| Reply::status(if call.number % 50 == 7 { 500 } else { 200 })).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.settings.backoff_base = span(20);
    let stage = Arc::new(stage);
    let poll = Duration::from_millis(100);
    let publishers = [Running::start(&stage, poll), Running::start(&stage, poll)];
    let writers = (0..4).map(|writer| {
        let stage = stage.clone();
        tokio::spawn(async move {
            let client = stage.database.client().await;
            for sequence in 0..5 {
                for lane in 0..40 {
                    let id = stage.effect_by(&client, &format!("ped_{writer}_{lane}"), sequence).await;
                    assert!(!id.is_nil());
                }
                client.execute("select pg_notify('ordem_effects', '')", &[]).await.unwrap();
            }
        })
    });
    for ended in join_all(writers).await {
        ended.unwrap();
    }
    // A follower that was held back and never woken would wait for the end of a lease: a minute.
    eventually("delivered", 800, || stage.count("delivered")).await;
    let mut last = HashMap::new();
    let mut delivered = HashSet::new();
    for call in sink.calls() {
        let before = last.insert(call.resource(), call.effect());
        assert!(before.is_none_or(|before| before <= call.effect()), "out of order: {}", call.resource());
        delivered.insert(call.id());
    }
    assert_eq!(delivered.len(), 800);
    for publisher in publishers {
        publisher.stop().await;
    }
}
