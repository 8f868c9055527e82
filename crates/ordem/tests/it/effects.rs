//! `ordem effects groups`, `show`, and what `retry` and `discard` take.

use serde_json::{Value, json};
use testkit::Event;
use uuid::Uuid;

use crate::world::World;

const QUEUED: &str = "select count(*) from ordem_engine.effect_queue";
const DISCARDED: &str = "select count(*) from ordem.effects where state = 'discarded'";

/// Three orders whose picking could not be released, two of them for one cause.
async fn three_dead() -> (World, Vec<Uuid>) {
    let world = World::new().await;
    let mut ids = Vec::new();
    for (order, error) in [
        ("ped_1", "answer 410"),
        ("ped_2", "answer 422: order \"a\" of 2026-01-02 weighs 17 kg"),
        ("ped_3", "answer 422: order \"b\" of 2026-01-03 weighs 9 kg"),
    ] {
        world.apply(&[Event::new(order, "paid", 1)]).await;
        let id = world.end_effect("release_picking", "dead").await;
        let error = error.replace('\'', "''");
        world
            .run(&format!(
                "update ordem_engine.effect_outcomes set last_error = '{error}' where effect_id = '{id}'"
            ))
            .await;
        ids.push(id);
    }
    (world, ids)
}

/// So many dead effects, each of an order of its own, as if they had been written a moment ago.
async fn many_dead(world: &World, number: usize) {
    world
        .run(&format!(
            "create temporary table dead as
             select (left(ordem_engine.first_id(now())::text, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid id, n
               from generate_series(1, {number}) n;
             insert into ordem_engine.effect_keys select 'loja', 'order', 'many_' || n, 'release_picking', '', id from dead;
             insert into ordem_engine.effects
             select id, 'loja', 'order', 'many_' || n, 'release_picking', '', 'fulfillment', 0, id, 'paid', 1, 0, '{{}}', now()
               from dead;
             insert into ordem_engine.effect_outcomes select id, 'dead', 12, now(), 'answer 503' from dead;
             drop table dead"
        ))
        .await;
}

fn ids_of(said: &Value) -> Vec<String> {
    let chosen = said["chosen"].as_array().unwrap();
    chosen.iter().map(|row| row["effect_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn failures_that_differ_only_in_details_are_one_group() {
    let (world, ids) = three_dead().await;
    world.apply(&[Event::new("ped_4", "paid", 1)]).await;
    world
        .run("update ordem_engine.effect_queue set attempts = 3, last_error = 'answer 503' where destination = 'fulfillment'")
        .await;
    let said = world.json(&["effects", "groups"]);
    let told: Vec<_> = said["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["state"].as_str().unwrap(), group["effects"].as_i64().unwrap()))
        .collect();
    assert_eq!(told.len(), 3, "{said}");
    assert_eq!(told[0], ("dead", 2));
    assert!(told.contains(&("retrying", 1)));
    let largest = &said["groups"][0];
    assert!(largest["sample"].as_str().unwrap().starts_with("answer 422: order"));
    assert_eq!(world.json(&["status"])["failures"][0], *largest);
    let group = largest["group"].as_str().unwrap();
    let chosen = world.json(&["effects", "retry", "--group", group, "--dry-run"]);
    assert_eq!(ids_of(&chosen), [ids[1].to_string(), ids[2].to_string()]);
    let text = world.ordem(&["effects", "groups", "--destination", "fulfillment"]).expect(0).out;
    assert!(text.contains(group) && text.contains("FOR EXAMPLE"), "{text}");
    assert_eq!(world.ordem(&["effects", "groups", "--destination", "x"]).expect(0).out, "no failures\n");
}

#[tokio::test]
async fn effects_are_chosen_by_what_they_have_in_common() {
    let (world, ids) = three_dead().await;
    let counted = |arguments: &[&str]| {
        let said = world.json(&[&["effects", "retry", "--dry-run"], arguments].concat());
        assert_eq!(said["done"], 0);
        said["found"].as_u64().unwrap()
    };
    let (first, last) = (ids[0].to_string(), ids[2].to_string());
    assert_eq!(counted(&["--id", &first, &last]), 2);
    assert_eq!(counted(&["--resource", "loja/order/ped_2"]), 1);
    assert_eq!(counted(&["--resource", "loja/order/ped_2", "--name", "halt_picking"]), 0);
    assert_eq!(counted(&["--destination", "fulfillment"]), 3);
    assert_eq!(counted(&["--name", "release_picking", "--since", "1h"]), 3);
    assert_eq!(counted(&["--since", "2030-01-01T00:00:00Z"]), 0);
    assert_eq!(counted(&["--until", "1h"]), 0);
    assert_eq!(counted(&["--destination", "fulfillment", "--limit", "2"]), 2);
    assert_eq!(counted(&["--state", "discarded", "--since", "1h"]), 0);
    let discard = ["effects", "discard", "--resource", "loja/order/ped_2", "--reason", "by hand"];
    assert_eq!(world.json(&discard)["done"], 1);
    assert_eq!(counted(&["--state", "discarded", "--since", "1h"]), 1);
    assert_eq!(world.json(&["effects", "retry", "--since", "1h", "--yes"])["done"], 2);
    assert_eq!(world.database.count(QUEUED).await, 2);
    let pending =
        ["effects", "discard", "--destination", "fulfillment", "--state", "pending", "--reason", "x"];
    assert_eq!(world.json(&pending)["done"], 2);
    assert_eq!(world.database.count(DISCARDED).await, 3);
    for (arguments, message) in [
        (&["effects", "retry"][..], "required arguments were not provided"),
        (
            &["effects", "retry", "--state", "discarded", "--destination", "fulfillment"],
            "--since or --resource",
        ),
        (&["effects", "retry", "--group", "x"], "is no failure group"),
        (&["effects", "retry", "--id", &first, "--destination", "fulfillment"], "cannot be used with"),
    ] {
        let said = world.ordem(arguments).expect(2);
        assert!(said.err.contains(message), "{arguments:?}: {}", said.err);
    }
}

#[tokio::test]
async fn thousands_come_back_in_batches_and_go_again() {
    let world = World::new().await;
    many_dead(&world, 1234).await;
    let said = world.json(&["effects", "retry", "--destination", "fulfillment", "--limit", "700"]);
    assert_eq!((said["done"].clone(), said["more"].clone()), (json!(700), json!(true)));
    assert_eq!(world.database.count(QUEUED).await, 700);
    // Each batch is a transaction of its own.
    let transactions = "select count(distinct xmin::text) from ordem_engine.effect_queue";
    assert_eq!(world.database.count(transactions).await, 2);
    let said = world.json(&["requeue", "--destination", "fulfillment"]);
    assert_eq!((said["done"].clone(), said["more"].clone()), (json!(534), json!(false)));
    let discard = ["effects", "discard", "--state", "pending", "--since", "1h", "--reason", "old"];
    let said = world.json(&discard);
    assert_eq!((said["found"].clone(), said["done"].clone()), (json!(1234), json!(1234)));
    assert_eq!(ids_of(&said).len(), 1000);
    assert_eq!(world.database.count(QUEUED).await, 0);
}

#[tokio::test]
async fn nothing_goes_back_in_front_of_an_effect_that_is_being_delivered() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1)]).await;
    let dead = world.end_effect("release_picking", "dead").await.to_string();
    world.apply(&[Event::new("ped_1", "canceled", 2)]).await;
    world
        .run("update ordem_engine.effect_queue set lease_token = gen_random_uuid(), due_at = now() + interval '1 hour'")
        .await;
    let said = world.ordem(&["effects", "retry", "--effect", &dead]).expect(1).out;
    assert!(said.contains("is getting a later effect of it in this moment (halt_picking)"), "{said}");
    // A publisher that takes the follower in this very moment: its row is locked.
    world.run("update ordem_engine.effect_queue set lease_token = null, due_at = now()").await;
    let publisher = world.client().await;
    publisher.batch_execute("begin; select from ordem_engine.effect_queue for update").await.unwrap();
    let said = world.ordem(&["effects", "retry", "--effect", &dead]).expect(1).out;
    assert!(said.contains("changed while this was at work"), "{said}");
    assert_eq!(world.database.count(QUEUED).await, 1);
    publisher.batch_execute("rollback").await.unwrap();
    assert_eq!(world.json(&["effects", "retry", "--effect", &dead])["done"], 1);
    let kept = format!("select last_error from ordem.effects where effect_id = '{dead}'");
    assert_eq!(world.text(&kept).await, "answered 410");
}

#[tokio::test]
async fn an_effect_that_a_publisher_is_about_to_take_is_not_discarded() {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 1)]).await;
    let publisher = world.client().await;
    publisher.batch_execute("begin; select from ordem_engine.effect_queue for update").await.unwrap();
    let discard =
        ["effects", "discard", "--resource", "loja/order/ped_1", "--state", "pending", "--reason", "x"];
    let said = world.ordem(&discard).expect(1).out;
    assert!(said.contains("changed while this was at work"), "{said}");
    publisher.batch_execute("rollback").await.unwrap();
    assert_eq!(world.json(&discard)["done"], 1);
}

#[tokio::test]
async fn one_effect_is_shown_with_each_call_and_the_answer_only_when_asked_for() {
    let (world, ids) = three_dead().await;
    let id = ids[0].to_string();
    world.run("update ordem_engine.delivery_attempts set response_excerpt = 'gone for good'").await;
    let said = world.json(&["effects", "show", &id]);
    assert_eq!((said["id"].clone(), said["state"].clone()), (json!("ped_1"), json!("dead")));
    assert_eq!(said["failure_group"].as_str().unwrap().len(), 8);
    assert_eq!(said["calls"][0]["http_status"], 410);
    assert_eq!(said["calls"][0].get("response_excerpt"), None);
    let text = world.ordem(&["effects", "show", &id]).expect(0).out;
    assert!(text.starts_with("release_picking of loja order ped_1 to fulfillment: dead\n"), "{text}");
    assert!(!text.contains("gone for good"));
    let text = world.ordem(&["effects", "show", &id, "--answers"]).expect(0).out;
    assert!(text.contains("gone for good"), "{text}");
    let absent = world.ordem(&["effects", "show", "0198f000-0000-7000-8000-000000000000"]).expect(1);
    assert!(absent.err.contains("no effect has the id"), "{}", absent.err);
}
