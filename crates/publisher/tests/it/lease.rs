//! Leases: whoever lost one has no say, and a lost one is taken over.

use std::sync::Arc;

use db::outbox::{self, Attempt, ClaimRequest, End, Finished};
use jiff::{SignedDuration, Timestamp};

use crate::{
    sink::Sink,
    stage::{NAME, Stage},
};

#[tokio::test]
async fn a_result_whose_lease_is_lost_is_dropped() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let (slow, quick) = (stage.courier(), stage.courier());
    let leased = slow.claim(Timestamp::UNIX_EPOCH, 8).await.unwrap();
    let late = slow.deliver(&leased.claim.effects[0], leased.expires, false).await.unwrap();
    assert_eq!(quick.claim(Timestamp::UNIX_EPOCH, 8).await.unwrap().claim.effects.len(), 0, "it is leased");

    stage.clock.advance_seconds(61);
    let again = quick.claim(Timestamp::UNIX_EPOCH, 8).await.unwrap();
    assert_eq!(again.claim.effects[0].attempt, 2);
    slow.record(&[late]).await.unwrap();
    assert_eq!(stage.shown(id).await.state, "pending", "the late result changes nothing");

    let report = quick.deliver(&again.claim.effects[0], again.expires, false).await.unwrap();
    quick.record(&[report]).await.unwrap();
    assert_eq!(stage.shown(id).await.state, "delivered");
    let calls = sink.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].id(), calls[1].id(), "the destination can tell that it is the same");
}

#[tokio::test]
async fn what_was_given_back_is_as_if_it_had_not_been_claimed() {
    let stage = Stage::new("http://127.0.0.1:9/").await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    let leased = courier.claim(Timestamp::UNIX_EPOCH, 8).await.unwrap();
    assert_eq!(stage.shown(id).await.attempts, 1);
    courier.give_back(&leased.claim.effects).await;
    assert_eq!(stage.shown(id).await.attempts, 0);
    let again = courier.claim(Timestamp::UNIX_EPOCH, 8).await.unwrap();
    assert_eq!(again.claim.effects[0].attempt, 1);
}

#[tokio::test]
async fn results_may_be_handed_in_twice() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    let leased = courier.claim(Timestamp::UNIX_EPOCH, 8).await.unwrap();
    let report = courier.deliver(&leased.claim.effects[0], leased.expires, false).await.unwrap();
    courier.record(std::slice::from_ref(&report)).await.unwrap();
    courier.record(&[report]).await.unwrap();
    assert_eq!(stage.tried(id).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_publishers_at_once_deliver_each_effect_exactly_once() {
    let sink = Sink::willing().await;
    let stage = Arc::new(Stage::new(&sink.url()).await);
    stage.effects(200, 3).await;
    let publishers = (0..2).map(|_| {
        let stage = stage.clone();
        tokio::spawn(async move {
            let courier = stage.courier();
            while stage.count("pending").await > 0 {
                courier.round().await.unwrap();
            }
        })
    });
    for ended in futures_util::future::join_all(publishers).await {
        ended.unwrap();
    }
    let calls = sink.calls();
    let mut ids: Vec<_> = calls.iter().map(|call| call.id()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((calls.len(), ids.len()), (600, 600));
    let mut last = std::collections::HashMap::new();
    for call in &calls {
        let before = last.insert(call.resource(), call.effect());
        assert!(before.is_none_or(|before| before < call.effect()), "out of order: {}", call.resource());
    }
}

#[tokio::test]
async fn the_publishers_own_role_has_all_the_rights_it_needs() {
    let stage = Stage::new("http://127.0.0.1:9/").await;
    stage.effects(3, 2).await;
    let client = stage.pool.get().await.unwrap();
    client.batch_execute("set role ordem_publisher").await.unwrap();
    let now = stage.now();
    let lease_until = now + SignedDuration::from_secs(60);
    let request =
        ClaimRequest { destination: NAME, due_from: Timestamp::UNIX_EPOCH, now, lease_until, limit: 3 };
    let mut effects = outbox::claim(&client, request).await.unwrap().effects;
    assert_eq!(effects.len(), 3);
    assert_eq!(outbox::give_back(&client, now, &[effects.pop().unwrap()]).await.unwrap(), 1);
    let attempt = Attempt {
        started_at: now,
        duration_ms: 1,
        result: "delivered",
        http_status: Some(200),
        response_excerpt: None,
    };
    let ends =
        [End::Delivered, End::Postponed { due_at: now, error: "answer 500".to_owned(), counted: true }];
    let results: Vec<Finished> = effects
        .iter()
        .zip(ends)
        .map(|(effect, end)| Finished {
            effect_id: effect.effect_id,
            lease_token: effect.lease_token,
            lane: effect.lane,
            end,
            attempt: attempt.clone(),
        })
        .collect();
    let written = outbox::finish(&client, NAME, now, &results).await.unwrap();
    assert_eq!((written.recorded.len(), written.woken), (2, 1), "the follower of the delivered one may go");
    let backlog = outbox::backlog(&client, now).await.unwrap().remove(0);
    assert_eq!((backlog.due, backlog.waiting, backlog.leased), (3, 2, 0));
    client.batch_execute("reset role").await.unwrap();
}
