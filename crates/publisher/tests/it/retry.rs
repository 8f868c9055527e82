//! Failures: which are tried again, when, how often, and under which key.

use std::time::Duration;

use testkit::free_port;

use service::settings::{Conflict, Said, SuccessRule};

use crate::{
    sink::{Reply, Sink},
    stage::{Shown, Stage, span},
};

const HOUR: i64 = 3600;

fn shown(state: &str, attempts: i32, error: Option<&str>) -> Shown {
    Shown { state: state.to_owned(), attempts, last_error: error.map(str::to_owned) }
}

#[tokio::test]
async fn a_failed_delivery_is_tried_again_with_the_same_key_and_body() {
    let sink = Sink::start(|call| Reply::status(if call.number < 2 { 500 } else { 204 })).await;
    let stage = Stage::new(&sink.url()).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    for attempt in 1..=2 {
        courier.round().await.unwrap();
        assert_eq!(stage.shown(id).await, shown("pending", attempt, Some("answer 500")));
        stage.clock.advance_seconds(HOUR);
    }
    courier.round().await.unwrap();
    assert_eq!(stage.shown(id).await, shown("delivered", 3, None));
    let calls = sink.calls();
    assert!(calls.iter().all(|call| call.id() == id.to_string() && call.body == calls[0].body));
    let results: Vec<_> =
        stage.tried(id).await.into_iter().map(|tried| (tried.attempt, tried.result)).collect();
    let word = str::to_owned;
    assert_eq!(results, [(1, word("transient")), (2, word("transient")), (3, word("delivered"))]);
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_a_failure() {
    let slow = Duration::from_secs(30);
    let sink =
        Sink::start(
            move |call| if call.number == 0 { Reply::status(200).after(slow) } else { Reply::status(200) },
        )
        .await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.settings.request_timeout = span(200);
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    courier.round().await.unwrap();
    assert_eq!(stage.shown(id).await, shown("pending", 1, Some("no answer in time")));
    stage.clock.advance_seconds(HOUR);
    courier.round().await.unwrap();
    assert_eq!(stage.shown(id).await.state, "delivered");
}

#[tokio::test]
async fn a_refused_connection_is_a_failure() {
    let stage = Stage::new(&format!("http://127.0.0.1:{}/", free_port())).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    let after = stage.shown(id).await;
    assert_eq!((after.state.as_str(), after.attempts), ("pending", 1));
    assert!(after.last_error.unwrap().contains("cannot connect"));
}

#[tokio::test]
async fn retry_after_is_kept_to_in_seconds_and_as_a_date() {
    let date = "Fri, 02 Jan 2099 03:04:05 GMT";
    let sink = Sink::start(move |call| match call.number {
        0 => Reply::status(429).header("retry-after", "120"),
        1 => Reply::status(503).header("retry-after", date),
        _ => Reply::status(200),
    })
    .await;
    let stage = Stage::new(&sink.url()).await;
    stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    let mut claimed = Vec::new();
    // A date far away is obeyed up to the cap, an hour.
    for wait in [0, 119, 2, 3599, 2] {
        stage.clock.advance_seconds(wait);
        claimed.push(courier.round().await.unwrap());
    }
    assert_eq!(claimed, [1, 0, 1, 0, 1]);
}

#[tokio::test]
async fn a_permanent_answer_ends_an_effect_at_once() {
    for status in [400, 410, 422] {
        let sink = Sink::start(move |_| Reply::status(status).body("no such order")).await;
        let stage = Stage::new(&sink.url()).await;
        let id = stage.effect("ped_1", "release_picking", 0).await;
        stage.courier().round().await.unwrap();
        assert_eq!(stage.shown(id).await, shown("dead", 1, Some(&format!("answer {status}: no such order"))));
        let tried = stage.tried(id).await.remove(0);
        assert_eq!((tried.result.as_str(), tried.excerpt.as_deref()), ("permanent", Some("no such order")));
        stage.clock.advance_seconds(HOUR);
        assert_eq!(stage.courier().round().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn what_may_be_a_broken_deploy_is_tried_again() {
    for status in [401, 403, 404, 405, 408, 409, 413, 415, 425, 429, 502, 302] {
        let sink = Sink::start(move |_| Reply::status(status)).await;
        let stage = Stage::new(&sink.url()).await;
        let id = stage.effect("ped_1", "release_picking", 0).await;
        stage.courier().round().await.unwrap();
        assert_eq!(stage.shown(id).await.state, "pending", "{status}");
    }
}

#[tokio::test]
async fn after_the_last_attempt_an_effect_is_dead_with_its_cause() {
    let sink = Sink::start(|_| Reply::status(500)).await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.destination.settings.care.attempts_max = Some(3);
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    for _ in 0..5 {
        courier.round().await.unwrap();
        stage.clock.advance_seconds(HOUR);
    }
    assert_eq!(sink.count(), 3);
    assert_eq!(stage.shown(id).await, shown("dead", 3, Some("answer 500")));
}

#[tokio::test]
async fn a_success_that_does_not_say_so_is_tried_again() {
    let sink = Sink::start(|call| {
        Reply::status(200).body(if call.number == 0 { "{\"ok\":false}" } else { "{\"ok\":true}" })
    });
    let sink = sink.await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.http().success = Some(SuccessRule { field: "ok".to_owned(), equals: Said::Bool(true) });
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let courier = stage.courier();
    courier.round().await.unwrap();
    let told = "answer 200, but ok is not as the destination's `success` says";
    assert_eq!(stage.shown(id).await, shown("pending", 1, Some(told)));
    stage.clock.advance_seconds(HOUR);
    courier.round().await.unwrap();
    assert_eq!(stage.shown(id).await.state, "delivered");
}

#[tokio::test]
async fn a_conflict_means_done_only_where_the_destination_says_so_and_only_after_another_attempt() {
    for (conflict, end) in [(Conflict::Delivered, "delivered"), (Conflict::Retry, "pending")] {
        let sink = Sink::start(|_| Reply::status(409)).await;
        let mut stage = Stage::new(&sink.url()).await;
        stage.http().conflict = conflict;
        let id = stage.effect("ped_1", "release_picking", 0).await;
        let courier = stage.courier();
        courier.round().await.unwrap();
        assert_eq!(stage.shown(id).await, shown("pending", 1, Some("answer 409")));
        stage.clock.advance_seconds(HOUR);
        courier.round().await.unwrap();
        assert_eq!(stage.shown(id).await.state, end);
    }
}
