//! One event that fails never takes its neighbours along.

use testkit::Event;

use crate::app::App;

const POISON: &str = "alter table ordem_engine.resources add constraint poison check (id <> 'ped_7')";
const CURE: &str = "alter table ordem_engine.resources drop constraint poison";

async fn poisoned() -> App {
    let app = App::new().await;
    app.client.batch_execute(POISON).await.unwrap();
    let events: Vec<Event> = (0..20).map(|n| Event::new(&format!("ped_{n}"), "paid", 2)).collect();
    app.arrive(&events).await;
    app
}

#[tokio::test]
async fn the_neighbours_of_a_failing_event_are_applied_and_it_waits_alone() {
    let app = poisoned().await;
    app.apply().await;
    assert_eq!(app.count("select count(*) from ordem.orders").await, 19);
    assert_eq!(app.count("select count(*) from ordem.effects").await, 19);
    assert_eq!(
        app.count("select count(*) from ordem_engine.inbox_queue").await,
        0,
        "the hot queue is free of it"
    );
    let waiting = app.texts("select dedup_key || ' ' || attempts || ' ' || last_error from ordem.events where outcome is null").await;
    assert_eq!(waiting.len(), 1);
    assert!(waiting[0].starts_with("evt_ped_7_2_paid 1 ") && waiting[0].contains("poison"), "{waiting:?}");
}

#[tokio::test]
async fn after_its_last_attempt_it_is_dead_with_its_error() {
    let app = poisoned().await;
    for _ in 0..6 {
        app.apply().await;
        app.clock.advance_seconds(3600);
    }
    let dead =
        app.texts("select attempts || ' ' || last_error from ordem.events where outcome = 'dead'").await;
    assert_eq!(dead.len(), 1);
    assert!(dead[0].starts_with("5 ") && dead[0].contains("poison"), "{dead:?}");
    assert_eq!(app.count("select count(*) from ordem_engine.inbox_retries").await, 0);
}

#[tokio::test]
async fn once_the_cause_is_gone_it_is_applied_at_its_next_turn() {
    let app = poisoned().await;
    app.apply().await;
    app.client.batch_execute(CURE).await.unwrap();
    app.apply().await;
    assert_eq!(app.count("select count(*) from ordem.orders").await, 19, "not before its turn");
    app.clock.advance_seconds(3600);
    app.apply().await;
    assert_eq!(app.order("ped_7").await.0, "paid");
    assert_eq!(app.effects().await["ped_7"], ["release_picking"]);
}

#[tokio::test]
async fn an_event_of_a_source_that_is_not_configured_waits_and_says_so() {
    let app = App::new().await;
    app.arrive_raw("forgotten", &[Event::new("ped_1", "paid", 2).body()]).await;
    app.arrive(&[Event::new("ped_2", "paid", 2)]).await;
    app.apply().await;
    assert_eq!(app.order("ped_2").await.0, "paid");
    let waiting = app.texts("select last_error from ordem.events where outcome is null").await;
    assert!(
        waiting[0].contains("source \"forgotten\" is not configured: add [sources.forgotten]"),
        "{waiting:?}"
    );
}
