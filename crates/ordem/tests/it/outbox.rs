//! `ordem requeue`, `discard`, `pause` and `resume`.

use serde_json::json;
use testkit::Event;

use crate::world::World;

const QUEUED: &str = "select count(*) from ordem_engine.effect_queue";

#[tokio::test]
async fn a_dead_effect_goes_back_into_its_old_place() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1)]).await;
    let place = "select destination || ' ' || lane || ' ' || sequence || ' ' || attempts from ordem_engine.effect_queue";
    let before = world.text(place).await;
    let id = world.end_effect("release_picking", "dead").await.to_string();
    let dry = world.json(&["requeue", "--destination", "fulfillment", "--dry-run"]);
    assert_eq!((dry["done"].clone(), dry["chosen"][0]["id"].clone()), (json!(0), json!("ped_1")));
    assert_eq!(world.database.count(QUEUED).await, 0);
    assert_eq!(world.json(&["requeue", "--effect", &id])["done"], 1);
    assert_eq!(world.text(place).await, before);
    assert_eq!(
        world.text(&format!("select state from ordem.effects where effect_id = '{id}'")).await,
        "pending"
    );
    let again = world.ordem(&["requeue", "--effect", &id]).expect(1).out;
    assert!(again.contains("is pending"), "{again}");
}

#[tokio::test]
async fn an_effect_is_not_requeued_behind_a_later_one_unless_that_is_meant() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1), Event::new("ped_1", "canceled", 2)]).await;
    world.end_effect("release_picking", "dead").await;
    world.end_effect("halt_picking", "delivered").await;
    let said = world.ordem(&["requeue", "--destination", "fulfillment"]).expect(1).out;
    assert!(said.contains("already has a later effect of it (halt_picking)"), "{said}");
    assert_eq!(world.database.count(QUEUED).await, 0);
    let said = world.json(&["requeue", "--destination", "fulfillment", "--out-of-order", "--since", "1h"]);
    assert_eq!(said["done"], 1);
}

#[tokio::test]
async fn pending_and_dead_effects_are_discarded_with_the_reason_and_what_follows_goes_on() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1), Event::new("ped_1", "canceled", 2)]).await;
    // The follower was held back behind its head.
    world.run("update ordem_engine.effect_queue set due_at = '2030-01-01' where sequence = 1").await;
    let head: String =
        world.text("select effect_id::text from ordem_engine.effect_queue where sequence = 0").await;
    let leased = "update ordem_engine.effect_queue set lease_token = gen_random_uuid(), due_at = '2030-01-01' where sequence = 0";
    world.run(leased).await;
    let discard = ["discard", "--effect", head.as_str(), "--reason", "picked by hand"];
    assert!(world.ordem(&discard).expect(1).out.contains("is being delivered in this moment"));
    world
        .run("update ordem_engine.effect_queue set lease_token = null, due_at = now() where sequence = 0")
        .await;
    assert_eq!(world.json(&discard)["done"], 1);
    let ended = format!(
        "select state || ': ' || last_error from ordem_engine.effect_outcomes where effect_id = '{head}'"
    );
    assert_eq!(world.text(&ended).await, "discarded: picked by hand");
    assert_eq!(
        world.database.count("select count(*) from ordem_engine.effect_queue where due_at <= now()").await,
        1
    );
    let dead = world.end_effect("halt_picking", "dead").await.to_string();
    assert_eq!(world.json(&["discard", "--effect", &dead, "--reason", "late"])["done"], 1);
    assert_eq!(world.database.count("select count(*) from ordem.effects where state = 'discarded'").await, 2);
    assert!(
        world
            .ordem(&["discard", "--effect", &dead, "--reason", "late"])
            .expect(1)
            .out
            .contains("is discarded")
    );
    assert_eq!(world.json(&["requeue", "--effect", &dead])["done"], 1);
    world.ordem(&["discard", "--effect", &dead, "--reason", " "]).expect(2);
}

#[tokio::test]
async fn a_destination_is_held_and_let_go() {
    let world = World::new().await;
    let paused = world.json(&["pause", "fulfillment", "--reason", "stocktaking"]);
    assert_eq!((paused["paused"].clone(), paused["reason"].clone()), (json!(true), json!("stocktaking")));
    let again = world.json(&["pause", "fulfillment"]);
    assert_eq!(
        (again["paused_at"].clone(), again["reason"].clone()),
        (paused["paused_at"].clone(), json!("stocktaking"))
    );
    assert_eq!(world.database.count("select count(*) from ordem_engine.paused_destinations").await, 1);
    assert!(world.ordem(&["resume", "fulfillment"]).expect(0).out.contains("goes on"));
    assert_eq!(world.ordem(&["resume", "fulfillment"]).expect(0).out, "fulfillment was not paused\n");
}
