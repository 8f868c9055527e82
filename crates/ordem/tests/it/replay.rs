//! `ordem replay`.

use serde_json::json;
use testkit::Event;

use crate::world::World;

#[tokio::test]
async fn a_dead_event_goes_back_into_the_queue_and_the_view_shows_it_pending() {
    let world = World::new().await;
    let ids = world.receive(&[Event::new("ped_1", "paid", 1).body()]).await;
    world.kill(ids[0]).await;
    let id = ids[0].to_string();
    let dry = world.json(&["replay", "--event", &id, "--dry-run"]);
    assert_eq!((dry["done"].clone(), dry["chosen"][0]["outcome"].clone()), (json!(0), json!("dead")));
    let said = world.json(&["replay", "--event", &id]);
    assert_eq!(said["done"], 1);
    assert_eq!(said["skipped"], json!([]));
    let view = format!("select coalesce(outcome, 'pending') from ordem.events where event_id = '{id}'");
    assert_eq!(world.text(&view).await, "pending");
    assert_eq!(world.database.count("select count(*) from ordem_engine.inbox_queue").await, 1);
}

#[tokio::test]
async fn events_of_a_source_are_found_by_outcome_and_within_the_limit() {
    let world = World::new().await;
    let bodies: Vec<Vec<u8>> = (1..=3).map(|at| Event::new("ped_1", "paid", at).body()).collect();
    for id in world.receive(&bodies).await {
        world.kill(id).await;
    }
    world.apply(&[Event::new("ped_2", "unheard", 1)]).await;
    let mut broken = Event::new("ped_3", "paid", 1);
    broken.json["data"]["total_cents"] = json!([1]);
    world.apply(&[broken]).await;
    let counted = |arguments: &[&str]| {
        let said = world.json(&[&["replay", "--dry-run", "--source", "loja"], arguments].concat());
        (said["chosen"].as_array().unwrap().len(), said["more"].as_bool().unwrap())
    };
    assert_eq!(counted(&[]), (4, false));
    assert_eq!(counted(&["--limit", "2"]), (2, true));
    assert_eq!(counted(&["--outcome", "malformed"]), (1, false));
    assert_eq!(counted(&["--outcome", "ignored", "--since", "1h"]), (1, false));
    assert_eq!(counted(&["--since", "2030-01-01T00:00:00Z"]), (0, false));
    let text = world.ordem(&["replay", "--source", "loja", "--limit", "2"]).expect(0).out;
    assert!(text.starts_with("found 2 events to be replayed\n"), "{text}");
    assert!(text.contains("there are more") && text.ends_with("replayed: 2\n"), "{text}");
    assert_eq!(counted(&[]), (2, false));
}

#[tokio::test]
async fn events_that_were_decided_or_wait_are_left_alone() {
    let world = World::new().await;
    let applied = world.apply(&[Event::new("ped_1", "paid", 1)]).await[0].to_string();
    let waiting = world.receive(&[Event::new("ped_1", "shipped", 2).body()]).await[0].to_string();
    let absent = "0198f000-0000-7000-8000-000000000000";
    let said = world.ordem(&["replay", "--json", "--event", &applied, &waiting, absent]).expect(1).json();
    assert_eq!(said["done"], 0);
    let reasons: Vec<&str> = said["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skipped| skipped["reason"].as_str().unwrap())
        .collect();
    assert_eq!(
        reasons,
        ["no event has this id", "was decided (applied): nothing is left to do", "is waiting already"]
    );
}
