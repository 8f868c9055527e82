//! What a destination receives.

use std::time::Duration;

use secrecy::SecretString;
use serde_json::json;
use signature::{Request, standard_webhooks};
use testkit::eventually;

use crate::{
    sink::{Call, Sink},
    stage::{SECRET, Stage},
};

fn verifies(call: &Call, secret: &str, now: i64) -> bool {
    let headers: Vec<(&str, &[u8])> =
        call.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let keys = [standard_webhooks::key(&SecretString::from(secret)).unwrap()];
    let request = Request::new(&headers, &call.body, now);
    standard_webhooks::verify(&request, &keys, 5).is_ok()
}

#[tokio::test]
async fn an_effect_is_delivered_once_with_its_data_and_a_signature() {
    let sink = Sink::willing().await;
    let stage = Stage::new(&sink.url()).await;
    let born = stage.now();
    // More digits than a double holds, and the order of names as jsonb keeps it.
    let fields = json!({"total_minor": 9_007_199_254_740_993_i64, "note": "açaí \"duplo\"", "gift": true});
    let id = stage.effect_with("ped_1", "release_picking", 0, fields).await;
    stage.clock.advance_seconds(2);
    let courier = stage.courier();
    assert_eq!(courier.round().await.unwrap(), 1);
    assert_eq!(courier.round().await.unwrap(), 0, "nothing is left");

    let calls = sink.calls();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    let mut json = call.json();
    let timestamp: jiff::Timestamp = json["timestamp"].take().as_str().unwrap().parse().unwrap();
    assert_eq!(timestamp.as_microsecond(), born.as_microsecond());
    assert_eq!(
        json,
        json!({"type": "order.release_picking", "timestamp": null, "data": {
            "effect_id": id.to_string(), "source": "loja", "kind": "order", "id": "ped_1",
            "effect": "release_picking", "key": "", "status": "paid", "version": 1_767_323_045_000_000_i64,
            "fields": {"total_minor": 9_007_199_254_740_993_i64, "note": "açaí \"duplo\"", "gift": true},
        }})
    );
    assert_eq!(call.header("content-type"), "application/json");
    assert_eq!(call.header("user-agent"), concat!("ordem/", env!("CARGO_PKG_VERSION")));
    assert_eq!(call.header("webhook-id"), id.to_string());
    assert_eq!(call.header("idempotency-key"), id.to_string());
    let now = stage.now().as_second();
    assert_eq!(call.header("webhook-timestamp"), now.to_string(), "of the attempt, not of the effect");
    assert!(verifies(call, SECRET, now));
    assert!(!verifies(call, "whsec_b3V0cm8=", now));

    let shown = stage.shown(id).await;
    assert_eq!((shown.state.as_str(), shown.attempts, shown.last_error), ("delivered", 1, None));
    assert_eq!(stage.database.count("select count(*) from ordem_engine.effect_queue").await, 0);
}

#[tokio::test]
async fn each_live_secret_signs_and_a_changed_one_takes_over() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.add_secret("the old one");
    let courier = stage.courier();
    stage.effect("ped_1", "release_picking", 0).await;
    courier.round().await.unwrap();
    let now = stage.now().as_second();
    let call = sink.calls().remove(0);
    assert_eq!(call.header("webhook-signature").split(' ').count(), 2);
    assert!(verifies(&call, SECRET, now) && verifies(&call, "the old one", now));

    stage.add_secret("the new one");
    let (sink, stage, courier) = (&sink, &stage, &courier);
    let deliver_again = |number: i32| async move {
        stage.effect(&format!("ped_{number}"), "release_picking", 0).await;
        courier.round().await.unwrap();
        let call = sink.calls().pop().unwrap();
        (verifies(&call, "the new one", now), verifies(&call, "the old one", now))
    };
    let number = std::sync::atomic::AtomicI32::new(2);
    // The files are looked at every five seconds.
    eventually("the changed secret signs alone", (true, false), || async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        deliver_again(number.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).await
    })
    .await;
}
