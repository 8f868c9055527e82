//! What operators see and do where `after_dead = "hold"` lets a dead effect keep its place.

use std::sync::Arc;

use db::outbox::{self, Attempt, ClaimRequest, ClaimedEffect, End, Finished};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::{Event, eventually};
use uuid::Uuid;

use crate::world::{World, now};

const DESTINATION: &str = "fulfillment";

/// Leases what may be sent at this instant.
async fn claim(world: &World, now: Timestamp) -> Vec<ClaimedEffect> {
    let request = ClaimRequest {
        destination: DESTINATION,
        due_from: Timestamp::UNIX_EPOCH,
        now,
        lease_until: now + SignedDuration::from_mins(1),
        limit: 8,
    };
    outbox::claim(&world.client().await, request).await.unwrap().effects
}

async fn finish(world: &World, effect: &ClaimedEffect, end: End) {
    let attempt = Attempt {
        started_at: now(),
        duration_ms: 12,
        result: if end == End::Delivered { "delivered" } else { "permanent" },
        http_status: None,
        response_excerpt: None,
    };
    let ClaimedEffect { effect_id, lease_token, lane, .. } = *effect;
    let finished = [Finished { effect_id, lease_token, lane, end, attempt }];
    let written = outbox::finish(&world.client().await, DESTINATION, now(), &finished).await.unwrap();
    assert!(written.recorded.contains(&effect_id));
}

/// An order whose picking could not be released: its halt waits behind that. Returns both effects.
async fn held() -> (World, Uuid, Uuid) {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1), Event::new("ped_1", "canceled", 2)]).await;
    let heads = claim(&world, now()).await;
    let [head] = heads.as_slice() else { panic!("{heads:?}") };
    finish(&world, head, End::Dead { error: "answer 410".to_owned(), holds_lane: true }).await;
    // The follower is looked at, and is held back behind the dead one.
    assert!(claim(&world, now()).await.is_empty());
    let follower =
        world.text("select effect_id::text from ordem.effects where effect = 'halt_picking'").await;
    (world, head.effect_id, follower.parse().unwrap())
}

fn ids(listed: &Value, list: &str) -> Vec<String> {
    let rows = listed[list].as_array().unwrap();
    rows.iter().map(|row| row["effect_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_dead_one_is_shown_as_dead_everywhere_and_what_it_holds_as_pending() {
    let (world, head, follower) = held().await;
    let status = world.json(&["status"]);
    let destinations = status["destinations"].as_array().unwrap();
    let row = destinations.iter().find(|row| row["destination"] == DESTINATION).unwrap();
    assert_eq!((&row["pending"], &row["retrying"], &row["dead"]), (&json!(1), &json!(0), &json!(1)), "{row}");
    for (state, id) in [("dead", head), ("pending", follower)] {
        let listed = world.json(&["effects", "list", "--state", state, "--since", "1h"]);
        assert_eq!(ids(&listed, "effects"), [id.to_string()], "{state}");
    }
    let groups = world.json(&["effects", "groups"]);
    assert_eq!(
        (groups["groups"].as_array().unwrap().len(), &groups["groups"][0]["state"]),
        (1, &json!("dead"))
    );
    let shown = world.json(&["effects", "show", &head.to_string()]);
    assert_eq!((&shown["state"], &shown["next_attempt_at"]), (&json!("dead"), &json!(null)));
    let story = world.ordem(&["explain", "loja", "order", "ped_1"]).expect(0).out;
    assert!(!story.contains("9999"), "{story}");
    let dry =
        ["discard", "--state", "pending", "--resource", "loja/order/ped_1", "--reason", "x", "--dry-run"];
    assert_eq!(ids(&world.json(&dry), "chosen"), [follower.to_string()]);
    let dry = ["discard", "--state", "pending", "--destination", DESTINATION, "--reason", "x", "--dry-run"];
    assert_eq!(ids(&world.json(&dry), "chosen"), [follower.to_string()]);
}

#[tokio::test]
async fn a_retry_brings_it_back_in_front_of_what_it_holds() {
    let (world, head, follower) = held().await;
    assert_eq!(world.json(&["requeue", "--destination", DESTINATION])["done"], 1);
    let queued = "select count(*) from ordem_engine.effect_queue where due_at < now() and attempts = 0
                                                                and lease_token is null and last_error = 'answer 410'";
    assert_eq!(world.database.count(queued).await, 1);
    for id in [head, follower] {
        let heads = claim(&world, now()).await;
        assert_eq!(heads.iter().map(|effect| effect.effect_id).collect::<Vec<_>>(), [id]);
        finish(&world, &heads[0], End::Delivered).await;
    }
    assert_eq!(world.database.count("select count(*) from ordem.effects where state = 'delivered'").await, 2);
}

#[tokio::test]
async fn a_discard_lets_go_what_it_held_at_once() {
    let (world, head, follower) = held().await;
    let discard = ["discard", "--effect", &head.to_string(), "--reason", "picked by hand"];
    assert_eq!(world.json(&discard)["done"], 1);
    let ended = format!(
        "select state || ' ' || attempts || ': ' || last_error from ordem_engine.effect_outcomes where effect_id = '{head}'"
    );
    assert_eq!(world.text(&ended).await, "discarded 1: picked by hand");
    let heads = claim(&world, now()).await;
    assert_eq!(heads.iter().map(|effect| effect.effect_id).collect::<Vec<_>>(), [follower]);
}

#[tokio::test]
async fn a_discard_waits_for_a_publisher_that_looks_at_the_dead_one() {
    let (world, head, _) = held().await;
    let world = Arc::new(world);
    let publisher = world.client().await;
    publisher.batch_execute("begin; select from ordem_engine.effect_queue for key share").await.unwrap();
    let discarding = world.clone();
    let discard =
        move || discarding.json(&["discard", "--effect", &head.to_string(), "--reason", "picked by hand"]);
    let discard = tokio::task::spawn_blocking(discard);
    let waits = "select count(*) from pg_stat_activity
                  where datname = current_database() and wait_event_type = 'Lock'";
    eventually("waits", 1, || world.database.count(waits)).await;
    publisher.batch_execute("commit").await.unwrap();
    let said = discard.await.unwrap();
    assert_eq!(said["done"], 1);
    assert_eq!(world.database.count("select count(*) from ordem_engine.effect_queue").await, 1);
}

#[tokio::test]
async fn discarding_the_head_and_what_it_holds_leaves_nothing() {
    let (world, head, follower) = held().await;
    let (head, follower) = (head.to_string(), follower.to_string());
    let both = ["discard", "--effect", &head, "--effect", &follower, "--reason", "order by phone"];
    assert_eq!(world.json(&both)["done"], 2);
    assert_eq!(world.database.count("select count(*) from ordem_engine.effect_queue").await, 0);
    assert_eq!(world.json(&["requeue", "--effect", &head])["done"], 1);
}
