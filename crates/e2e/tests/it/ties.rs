//! Two events of one moment that differ: the provider is asked, and its word counts whatever came first.

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::desk::World;

/// The loja, asked where two of its events have one moment.
async fn world(api_url: bool) -> World {
    let loja = include_str!("../../../../profiles/loja.toml");
    let text = loja.replace("[version]\n", "[version]\ntie = \"refetch\"\n");
    assert_ne!(text, loja);
    World::with(api_url, "asked", Some(&text)).await
}

fn event(id: &str, type_: &str, total: u32) -> Value {
    json!({ "id": id, "type": type_, "occurred_at": "2026-01-02T03:04:05Z",
            "data": { "id": "ped_1", "total_cents": total, "currency": "BRL", "customer_email": "a@example.com" } })
}

fn api_order(status: &str, total: u32, updated_at: &str) -> Value {
    json!({ "id": "ped_1", "status": status, "total_cents": total, "currency": "BRL",
            "customer_email": "a@example.com", "updated_at": updated_at })
}

/// Until nothing waits any more.
async fn settle(world: &World) {
    for _ in 0..20 {
        world.apply().await;
        world.pass(10);
        if world.serve().await == 0 && world.is_clean().await {
            return;
        }
    }
    panic!("{:?}", world.outcomes().await);
}

#[tokio::test]
async fn the_providers_word_counts_whichever_of_two_totals_came_first() {
    for totals in [[15_990, 14_990], [14_990, 15_990]] {
        for word in [14_990, 15_990, 99] {
            let world = world(true).await;
            world.script(&[(200, api_order("paid", word, "2026-01-02T03:04:05Z"))]);
            for (at, total) in totals.iter().enumerate() {
                world.send(&event(&format!("evt_{at}"), "order.paid", *total)).await;
            }
            settle(&world).await;
            assert_eq!(world.order().await, format!("ped_1 paid {word} BRL"));
            assert_eq!(world.effects().await, ["ped_1:release_picking"]);
            assert_eq!(world.asked(), 1);
        }
    }
}

#[tokio::test]
async fn what_agrees_is_not_asked_about_and_another_moment_is_no_tie() {
    let world = world(true).await;
    world.send(&event("evt_1", "order.paid", 100)).await;
    world.send(&event("evt_2", "order.paid", 100)).await;
    let mut later = event("evt_3", "order.shipped", 100);
    later["occurred_at"] = json!("2026-01-02T03:04:06Z");
    world.send(&later).await;
    settle(&world).await;
    assert_eq!((world.order().await.as_str(), world.asked()), ("ped_1 shipped 100 BRL", 0));
}

#[tokio::test]
async fn a_word_that_is_older_or_unreadable_or_missing_leaves_the_events_to_the_rank() {
    let older = (200, api_order("created", 5, "2026-01-02T03:00:00Z"));
    for answer in [older, (200, json!(7)), (404, json!({}))] {
        let world = world(true).await;
        world.script(&[answer]);
        world.send(&event("evt_1", "order.canceled", 100)).await;
        world.send(&event("evt_2", "order.paid", 100)).await;
        settle(&world).await;
        assert_eq!(world.order().await, "ped_1 canceled 100 BRL");
    }
}

#[tokio::test]
async fn a_source_that_cannot_ask_keeps_the_event_until_it_can() {
    let world = world(false).await;
    world.send(&event("evt_1", "order.paid", 200)).await;
    world.send(&event("evt_2", "order.paid", 100)).await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied", "fetching"]);
    assert_eq!(world.order().await, "ped_1 paid 200 BRL");
}

/// Whatever the order, the duplicates and the moments at which the provider is asked, the row is the provider's word.
#[test]
fn every_order_of_arrival_ends_in_the_same_row() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let events = vec![
        event("evt_1", "order.created", 100),
        event("evt_2", "order.paid", 200),
        event("evt_3", "order.paid", 300),
        event("evt_4", "order.canceled", 100),
    ];
    let steps = Just(events).prop_shuffle().prop_flat_map(|events| {
        let asks = proptest::collection::vec(any::<bool>(), events.len());
        (Just(events), asks)
    });
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&steps, |(events, asks)| {
            let order = runtime.block_on(async {
                let world = world(true).await;
                world.script(&[(200, api_order("paid", 300, "2026-01-02T03:04:05Z"))]);
                for (event, asks) in events.iter().zip(asks) {
                    world.send(event).await;
                    if asks {
                        settle(&world).await;
                    }
                }
                settle(&world).await;
                world.order().await
            });
            prop_assert_eq!(order, "ped_1 paid 300 BRL");
            Ok(())
        })
        .unwrap();
}
