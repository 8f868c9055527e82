//! `ordem status`.

use insta::{Settings, assert_snapshot};
use serde_json::json;
use testkit::Event;

use crate::world::{World, ago};

async fn busy() -> World {
    let world = World::new().await;
    world.apply(&[Event::new("ped_1", "paid", 2), Event::new("ped_1", "canceled", 3)]).await;
    world.apply(&[Event::new("ped_1", "created", 1), Event::new("ped_1", "shipped", 4)]).await;
    world.apply(&[Event::new("ped_2", "paid", 1)]).await;
    let ids = world
        .receive(&[
            Event::new("ped_3", "paid", 1).body(),
            Event::new("ped_4", "paid", 1).body(),
            Event::new("ped_5", "paid", 1).body(),
        ])
        .await;
    world.kill(ids[0]).await;
    let cursor = ago(120);
    world
        .run(&format!(
            "delete from ordem_engine.inbox_queue where event_id = '{id}';
             insert into ordem_engine.inbox_retries values ('{id}', now() - interval '1 second', 1, 'x');
             insert into ordem_engine.cursors values ('loja', 'orders', '{cursor}', now());
             insert into ordem_engine.lookups (lookup_id, source, fetch_name, resource_id, asked_at, due_at, last_error)
             values (gen_random_uuid(), 'loja', 'order', 'ped_8', now() - interval '1 minute', now(), 'answered 500'),
                    (gen_random_uuid(), 'loja', 'order', 'ped_9', now() - interval '5 seconds', now(), null);
             insert into ordem_engine.paused_destinations values ('fulfillment', now(), 'stocktaking');
             insert into ordem_engine.refused_requests
             values (ordem_engine.first_id(now()), 'loja', now(), 'mismatch', '{{}}', 'x', 1)",
            id = ids[1]
        ))
        .await;
    world.end_effect("halt_picking", "dead").await;
    world
}

#[tokio::test]
async fn everything_that_waits_or_went_wrong_is_counted() {
    let world = busy().await;
    let status = world.json(&["status"]);
    assert_eq!(status["schema_version"], db::newest_version());
    let inbox = &status["inbox"];
    assert_eq!(inbox["pending"], 2);
    assert_eq!(inbox["retrying"], 1);
    assert_eq!(inbox["retries_due"], 1);
    assert!(inbox["oldest_seconds"].as_u64().unwrap() < 60);
    assert_eq!((inbox["dead"].clone(), inbox["terminal_regression"].clone()), (json!(1), json!(1)));
    assert_eq!(status["recent"]["is_whole_hour"], true);
    let outcomes = json!([
        {"source": "loja", "outcome": "applied", "events": 3},
        {"source": "loja", "outcome": "dead", "events": 1},
        {"source": "loja", "outcome": "pending", "events": 2},
        {"source": "loja", "outcome": "stale", "events": 1},
        {"source": "loja", "outcome": "terminal_regression", "events": 1},
    ]);
    assert_eq!(status["recent"]["outcomes"], outcomes);
    let destination = &status["destinations"][0];
    assert_eq!(destination["state"], "on");
    assert_eq!((destination["pending"].clone(), destination["due"].clone()), (json!(2), json!(2)));
    assert_eq!(
        (destination["dead"].clone(), destination["paused_reason"].clone()),
        (json!(1), json!("stocktaking"))
    );
    let cursor = &status["sources"][0]["cursors"][0];
    assert_eq!(cursor["name"], "orders");
    assert!((120..180).contains(&cursor["age_seconds"].as_u64().unwrap()));
    let lookups = &status["lookups"][0];
    assert_eq!(
        (&lookups["source"], &lookups["waiting"], &lookups["failing"]),
        (&json!("loja"), &json!(2), &json!(1))
    );
    assert!((60..120).contains(&lookups["oldest_seconds"].as_u64().unwrap()));
    assert_eq!(status["refused"], json!([{"source": "loja", "reason": "mismatch", "samples": 1}]));
}

#[tokio::test]
async fn the_text_has_it_all() {
    let world = busy().await;
    let said = world.ordem(&["status"]).expect(0);
    let mut settings = Settings::clone_current();
    settings.add_filter(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z", "[instant]");
    settings.add_filter(r"\b(\dm )?\d+s\b", "[age]");
    settings.bind(|| assert_snapshot!(said.out));
}

#[tokio::test]
async fn an_idle_system_says_so() {
    let world = World::new().await;
    let status = world.json(&["status"]);
    assert_eq!(status["inbox"]["oldest_seconds"], json!(null));
    assert_eq!(status["destinations"][0]["pending"], 0);
    assert_eq!(status["lookups"], json!([]));
    assert!(world.ordem(&["status"]).expect(0).out.contains("inbox: 0 pending ("));
}
