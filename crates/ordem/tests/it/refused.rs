//! `ordem refused`.

use db::inbox::{RefusedRequest, record_refused};
use serde_json::json;
use testkit::{Event, SECRET, sign};

use crate::world::{World, ago};

async fn refuse(world: &World, body: &[u8], signed_with: &str, body_bytes: usize) {
    let headers = json!({"x-loja-signature": sign(signed_with, body)}).to_string();
    let request = RefusedRequest {
        refusal_id: db::ids::new_id(ago(60)),
        source: "loja",
        refused_at: ago(60),
        reason: "mismatch",
        headers: &headers,
        body,
        body_bytes: i64::try_from(body_bytes).unwrap(),
    };
    record_refused(&world.client().await, &request, 1000).await.unwrap();
}

/// Two that were signed with the right secret, one with another, one of which only a part was kept.
async fn refusals() -> World {
    let world = World::new().await;
    for (order, secret) in [("ped_1", SECRET), ("ped_2", SECRET), ("ped_3", "other")] {
        let body = Event::new(order, "paid", 1).body();
        refuse(&world, &body, secret, body.len()).await;
    }
    refuse(&world, b"{\"id\":", SECRET, 70_000).await;
    world
}

#[tokio::test]
async fn refused_requests_are_listed_without_their_bodies() {
    let world = refusals().await;
    let said = world.json(&["refused", "--source", "loja"]);
    let refused = said["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 4);
    assert_eq!(refused.iter().filter(|refusal| refusal["is_whole"] == false).count(), 1);
    assert_eq!(refused[0]["reason"], "mismatch");
    let text = world.ordem(&["refused"]).expect(0).out;
    assert!(text.contains("mismatch") && !text.contains("ped_1"), "{text}");
    assert_eq!(world.ordem(&["refused", "--source", "x"]).expect(0).out, "no refused requests\n");
}

#[tokio::test]
async fn once_the_secret_is_right_the_samples_that_verify_enter_the_inbox() {
    let world = refusals().await;
    let wrong = world.ordem_with_secret("wrong", &["refused", "--reverify", "--json"]).expect(0).json();
    assert_eq!(wrong["sources"]["loja"]["verified"], 0);
    let expected = |stored: u64| {
        json!({"samples": 4, "verified": 2, "events_stored": stored, "duplicates": 0, "still_refused": 1, "cut": 1,
               "source_off": 0})
    };
    let dry = world.json(&["refused", "--reverify", "--dry-run"]);
    assert_eq!(dry["sources"]["loja"], expected(0));
    assert_eq!(world.database.count("select count(*) from ordem.events").await, 0);
    assert_eq!(world.json(&["refused", "--reverify"])["sources"]["loja"], expected(2));
    let stored = "select string_agg(resource_id || ' ' || event_type || ' ' || origin, ', ' order by resource_id) from ordem.events";
    assert_eq!(world.text(stored).await, "ped_1 order.paid webhook, ped_2 order.paid webhook");
    assert_eq!(world.database.count("select count(*) from ordem_engine.inbox_queue").await, 2);
    assert_eq!(world.database.count("select count(*) from ordem_engine.refused_requests").await, 2);
}

#[tokio::test]
async fn what_is_in_the_inbox_already_is_not_stored_again() {
    let world = refusals().await;
    world.apply(&[Event::new("ped_1", "paid", 1)]).await;
    let said = world.json(&["refused", "--reverify"]);
    assert_eq!(said["sources"]["loja"]["duplicates"], 1);
    assert_eq!(said["sources"]["loja"]["events_stored"], 1);
    assert!(world.ordem(&["refused", "--reverify"]).expect(0).out.contains("STILL REFUSED"));
}
