//! `ordem explain`.

use insta::{Settings, assert_snapshot};
use serde_json::json;
use testkit::Event;

use crate::world::World;

/// Ids and instants that differ from run to run.
fn redacted() -> Settings {
    let mut settings = Settings::clone_current();
    settings.add_filter(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "[id]");
    settings.add_filter(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z", "[instant]");
    settings
}

/// Everything that can happen to an order.
async fn eventful(world: &World) {
    let paid = Event::new("ped_1", "paid", 2);
    world
        .apply(&[
            Event::new("ped_1", "created", 1),
            Event::new("ped_1", "canceled", 5),
            Event::new("ped_1", "paid", 7),
            paid.clone(),
            paid,
            Event::new("ped_1", "shipped", 3),
            Event::new("ped_1", "refunded", 9),
            Event::new("ped_1", "created", 10),
        ])
        .await;
}

#[tokio::test]
async fn the_story_tells_each_event_and_why_it_ended_so() {
    let world = World::new().await;
    eventful(&world).await;
    world.end_effect("notify_refund", "dead").await;
    let said = world.ordem(&["explain", "loja", "order", "ped_1"]).expect(0);
    redacted().bind(|| assert_snapshot!(said.out));
}

#[tokio::test]
async fn the_json_has_stable_names() {
    let world = World::new().await;
    eventful(&world).await;
    world.end_effect("notify_refund", "dead").await;
    let story = world.json(&["explain", "loja", "order", "ped_1"]);
    assert_eq!(story["row"]["status"], "refunded");
    assert_eq!(story["row"]["version"], json!([9, 0]));
    assert_eq!(story["row"]["fields"]["total_minor"], json!({"value": 12990, "version": [10, 0]}));
    let events = story["events"].as_array().unwrap();
    let outcomes: Vec<&str> = events.iter().map(|event| event["outcome"].as_str().unwrap()).collect();
    assert_eq!(
        outcomes,
        ["applied", "applied", "terminal_regression", "stale", "stale", "applied", "terminal_regression"]
    );
    assert_eq!(events[2]["version"], json!([7, 0]));
    assert_eq!(
        events[2]["why"],
        "version 7 is newer than 5, but `canceled` is left only to `refunded`: `paid` does not move it; from now on it counts as reached"
    );
    assert_eq!(events[1]["transition"], json!({"from": "created", "to": "canceled"}));
    assert_eq!(events[0]["transition"], json!({"from": null, "to": "created"}));
    let effect = &story["effects"][0];
    assert_eq!(effect["effect"], "notify_refund");
    assert_eq!(effect["trigger_event_id"], events[5]["event_id"]);
    assert_eq!(effect["state"], "dead");
    assert_eq!(effect["calls"][0]["http_status"], 410);
    assert_eq!(effect["calls"][0]["duration_ms"], 12);
    assert!(story["notes"][0].as_str().unwrap().contains("cannot be listed"));
    assert!(events[0].get("body").is_none());
}

#[tokio::test]
async fn a_late_fact_that_changes_the_result_is_told_as_such() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_2", "paid", 2), Event::new("ped_2", "canceled", 1)]).await;
    let story = world.json(&["explain", "loja", "order", "ped_2"]);
    assert_eq!(
        story["events"][1]["why"],
        "version 1 is not newer than 2, but with it the facts in their order end in `canceled`"
    );
    let effects: Vec<&str> = story["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| effect["effect"].as_str().unwrap())
        .collect();
    assert_eq!(effects, ["release_picking", "halt_picking"]);
}

#[tokio::test]
async fn a_body_is_shown_only_when_asked_for() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_3", "paid", 2)]).await;
    let asked = ["explain", "loja", "order", "ped_3"];
    assert!(!world.ordem(&asked).out.contains("total_cents"));
    assert!(world.ordem(&[&asked[..], &["--body"]].concat()).out.contains("total_cents"));
}

#[tokio::test]
async fn events_that_wait_or_failed_are_told_as_such() {
    let world = World::new().await;
    let ids = world
        .receive(&[Event::new("ped_4", "created", 1).body(), Event::new("ped_4", "paid", 2).body()])
        .await;
    world
        .run(&format!(
            "delete from ordem_engine.inbox_queue where event_id = '{0}';
             insert into ordem_engine.inbox_retries values ('{0}', '2030-01-01T00:00:00Z', 2, 'no flow')",
            ids[1]
        ))
        .await;
    let story = world.json(&["explain", "loja", "order", "ped_4"]);
    assert_eq!(story["row"], json!(null));
    assert_eq!(story["events"][0]["why"], "it waits in the queue");
    assert_eq!(
        story["events"][1]["why"],
        "attempt 2 failed: no flow; the next is due 2030-01-01 00:00:00.000Z"
    );
}

#[tokio::test]
async fn when_older_events_are_gone_only_what_was_recorded_is_told() {
    let world = World::new().await;
    let ids = world
        .apply(&[
            Event::new("ped_5", "created", 1),
            Event::new("ped_5", "paid", 3),
            Event::new("ped_5", "shipped", 2),
        ])
        .await;
    world.run(&format!("delete from ordem_engine.inbox_events where event_id = '{}'", ids[0])).await;
    let story = world.json(&["explain", "loja", "order", "ped_5"]);
    assert_eq!(story["events"][0]["why"], "it took the row to `paid`");
    assert_eq!(story["events"][1]["why"], "it was not newer than the row");
    assert!(story["notes"][1].as_str().unwrap().contains("no longer kept"));
}

#[tokio::test]
async fn an_unknown_order_ends_with_1_and_a_hint() {
    let world = World::new().await;
    let said = world.ordem(&["explain", "loja", "order", "ped_404"]).expect(1);
    assert!(said.err.contains("no rows at all yet"), "{}", said.err);
    world.apply(&[Event::new("ped_6", "paid", 2)]).await;
    let said = world.ordem(&["explain", "loja", "orders", "ped_6"]).expect(1);
    assert!(said.err.contains("there are rows of: loja order."), "{}", said.err);
}
