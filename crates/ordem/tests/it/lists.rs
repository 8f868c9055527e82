//! `ordem events` and `ordem effects`.

use testkit::Event;

use crate::world::World;

#[tokio::test]
async fn events_are_listed_newest_first_and_can_be_narrowed() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "created", 2), Event::new("ped_1", "paid", 1)]).await;
    let ids = world.receive(&[Event::new("ped_2", "paid", 1).body(), b"no json".to_vec()]).await;
    world.kill(ids[0]).await;
    let all = world.json(&["events"]);
    assert_eq!(all["events"].as_array().unwrap().len(), 4);
    assert_eq!(all["events"][0]["event_id"], ids[1].to_string());
    let of =
        |outcome: &str| world.json(&["events", "--source", "loja", "--outcome", outcome])["events"].clone();
    assert_eq!(of("dead")[0]["resource_id"], "ped_2");
    assert_eq!(of("dead")[0]["last_error"], "it failed");
    assert_eq!(of("pending")[0]["event_id"], ids[1].to_string());
    assert_eq!(of("stale")[0]["event_type"], "order.paid");
    assert_eq!(of("test"), serde_json::json!([]));
    assert_eq!(world.json(&["events", "--limit", "1"])["events"].as_array().unwrap().len(), 1);
    assert_eq!(world.json(&["events", "--since", "2030-01-01T00:00:00Z"])["events"], serde_json::json!([]));
    let text = world.ordem(&["events"]).expect(0).out;
    assert!(text.contains("RECEIVED") && text.contains("order.paid") && text.lines().count() == 5, "{text}");
    assert_eq!(world.ordem(&["events", "--source", "x"]).expect(0).out, "no events\n");
}

#[tokio::test]
async fn effects_are_listed_newest_first_and_can_be_narrowed() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1), Event::new("ped_1", "canceled", 2)]).await;
    let dead = world.end_effect("release_picking", "dead").await;
    let all = world.json(&["effects", "--destination", "fulfillment"]);
    assert_eq!(all["effects"][0]["effect"], "halt_picking");
    assert_eq!(all["effects"][0]["state"], "pending");
    let narrowed = world.json(&["effects", "--state", "dead"]);
    assert_eq!(narrowed["effects"][0]["effect_id"], dead.to_string());
    assert_eq!(narrowed["effects"][0]["last_error"], "answered 410");
    assert!(world.ordem(&["effects"]).expect(0).out.contains("halt_picking"));
    assert_eq!(world.ordem(&["effects", "--state", "discarded"]).expect(0).out, "no effects\n");
}

#[tokio::test]
async fn what_others_wrote_cannot_steer_the_terminal() {
    let world = World::new().await;
    let mut event = Event::new("ped_1", "paid", 1);
    event.json["type"] = serde_json::json!("order.\u{1b}[31mpaid\nforged line");
    world.apply(&[event]).await;
    let text = world.ordem(&["events"]).expect(0).out;
    assert!(text.contains("\\u{1b}[31mpaid forged line") && !text.contains('\u{1b}'), "{text}");
}
