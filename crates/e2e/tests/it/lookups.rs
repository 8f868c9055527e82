//! Thin events end to end: the applier asks, the reconciler reads the provider, and the answer decides.
//!
//! Applier and reconciler work in this process over a real PostgreSQL, with the profile that ships for a provider whose
//! webhooks only say which order changed; the clock is set by hand.

use domain::Clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::desk::World;

fn order(payment: &str, updated_at: &str) -> Value {
    json!({"id": 871_400, "payment_status": payment, "status": "open", "total": "129.90", "currency": "BRL",
           "contact_email": "a@example.com", "updated_at": updated_at})
}

fn paid() -> Value {
    order("paid", "2026-01-02T03:04:05+0000")
}

#[tokio::test]
async fn a_thin_event_waits_for_the_provider_and_is_applied_once() {
    let world = World::new(true).await;
    world.script(&[(200, paid())]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["fetching"]);
    assert_eq!(world.order().await, "");
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied"]);
    assert_eq!(world.order().await, "871400 paid 12990 BRL");
    assert_eq!(world.effects().await, ["871400:release_picking"]);
    assert_eq!(world.api.lock().unwrap().asked, ["/v1/100001/orders/871400"]);
    assert!(world.is_clean().await);
}

/// The store's replica lags: nothing there, then the state before, then the one that the event told of.
#[tokio::test]
async fn an_answer_older_than_the_event_is_asked_for_again() {
    let world = World::new(true).await;
    world.script(&[(404, json!({})), (200, order("pending", "2026-01-02T03:04:00+0000")), (200, paid())]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    for _ in 0..3 {
        assert_eq!(world.outcomes().await, ["fetching"]);
        assert_eq!(world.serve().await, 1);
        assert_eq!(world.serve().await, 0, "not before the wait is over");
        world.pass(30);
    }
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied"]);
    assert_eq!(world.order().await, "871400 paid 12990 BRL");
    assert_eq!(world.effects().await, ["871400:release_picking"]);
    assert_eq!(world.asked(), 3);
}

#[tokio::test]
async fn what_stays_behind_is_taken_as_it_is_once_it_had_time_to_settle() {
    let world = World::new(true).await;
    world.script(&[(200, order("pending", "2026-01-02T03:04:00+0000"))]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    let mut reads = 0;
    while world.outcomes().await == ["fetching"] {
        reads += world.serve().await;
        world.pass(31);
        world.apply().await;
        assert!(reads < 20);
    }
    assert_eq!(world.order().await, "871400 created 12990 BRL");
    assert_eq!(world.outcomes().await, ["applied"]);
    assert!(reads >= 4, "{reads}");
}

#[tokio::test]
async fn a_thing_that_stays_missing_is_ignored_with_the_address_that_was_asked() {
    let world = World::new(true).await;
    world.script(&[(404, json!({}))]);
    world.arrive("order/updated", 123_456).await;
    world.apply().await;
    for _ in 0..8 {
        world.serve().await;
        world.pass(31);
    }
    world.apply().await;
    assert_eq!(world.outcomes().await, ["ignored"]);
    let why = world.strings("select last_error from ordem.events").await.join("");
    assert_eq!(why, "/orders/123456 was answered with status 404: there is no such thing");
    assert!(world.is_clean().await);
}

#[tokio::test]
async fn a_hundred_events_of_one_order_make_one_read() {
    let world = World::new(true).await;
    world.script(&[(200, paid())]);
    for _ in 0..100 {
        world.arrive("order/updated", 871_400).await;
    }
    world.apply().await;
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    let outcomes = world.outcomes().await;
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "applied").count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "stale").count(), 99);
    assert_eq!(world.asked(), 1);
    assert_eq!(world.effects().await, ["871400:release_picking"]);
}

#[tokio::test]
async fn failures_of_the_api_keep_the_event_waiting_and_say_why() {
    let world = World::new(true).await;
    let answers =
        [(500, json!({})), (401, json!({})), (429, json!({})), (200, json!({"id": 1})), (200, paid())];
    world.script(&answers[..3]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    for told in ["status 500", "refuses the token", "429"] {
        world.serve().await;
        let why = world.strings("select last_error from ordem.events").await.join("");
        assert!(why.contains(told), "{told}: {why}");
        assert_eq!(world.outcomes().await, ["fetching"]);
        world.pass(120);
    }
    world.script(&[(200, paid())]);
    world.serve().await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied"]);
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_sets_the_event_aside() {
    let world = World::new(true).await;
    world.script(&[(200, json!([1, 2]))]);
    world.arrive("order/updated", 871_400).await;
    world.apply().await;
    world.serve().await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["malformed"]);
    let why = world.strings("select last_error from ordem.events").await.join("");
    assert!(why.contains("the provider's answer"), "{why}");
    assert!(world.is_clean().await);
}

#[tokio::test]
async fn a_reader_that_died_is_followed_once_its_lease_is_over() {
    let world = World::new(true).await;
    world.script(&[(200, paid())]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    let now: Timestamp = world.clock.now();
    let client = world.pool.get().await.unwrap();
    let claimed =
        db::lookups::claim(&client, "shop", now, now + SignedDuration::from_secs(60), 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    // An event that comes meanwhile is not served by the read that began before it.
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    assert_eq!(world.outcomes().await, ["fetching", "applied"]);
    world.pass(61);
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    assert_eq!(world.outcomes().await, ["stale", "applied"]);
    assert_eq!(world.effects().await, ["871400:release_picking"]);
    assert!(world.is_clean().await);
}

#[tokio::test]
async fn without_an_api_the_events_wait() {
    let world = World::new(false).await;
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    assert!(matches!(world.reader(), Err(reconciler::OpenError::Off(_))));
    assert_eq!(world.outcomes().await, ["fetching"]);
}
