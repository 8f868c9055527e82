//! The store's API.

use std::collections::BTreeSet;

use crate::world::World;

#[tokio::test]
async fn paging_over_all_orders_yields_each_once_in_order_of_change() {
    let world = World::with_orders(1_234).await;
    let orders = world.all_orders("1970-01-01T00:00:00Z", "100").await;
    assert_eq!(orders.len(), 1_234);
    let key = |order: &serde_json::Value| {
        let text = |name: &str| order[name].as_str().unwrap().to_owned();
        let at: jiff::Timestamp = text("updated_at").parse().unwrap();
        (at, text("id"))
    };
    assert!(orders.is_sorted_by_key(key));
    let ids: BTreeSet<_> = orders.iter().map(|order| key(order).1).collect();
    assert_eq!(ids.len(), 1_234);
}

#[tokio::test]
async fn only_what_changed_since_is_listed() {
    let world = World::with_orders(300).await;
    let all = world.all_orders("1970-01-01T00:00:00Z", "250").await;
    let since = all[200]["updated_at"].as_str().unwrap();
    let at: jiff::Timestamp = since.parse().unwrap();
    let later = world.all_orders(since, "250").await;
    let expected = all.iter().filter(|order| {
        let updated: jiff::Timestamp = order["updated_at"].as_str().unwrap().parse().unwrap();
        updated >= at
    });
    assert_eq!(later, expected.cloned().collect::<Vec<_>>());
}

#[tokio::test]
async fn one_order_is_as_in_the_list_and_an_unknown_one_is_404() {
    let world = World::with_orders(3).await;
    let listed = world.all_orders("1970-01-01T00:00:00Z", "100").await;
    let listed = listed.iter().find(|order| order["id"] == "ped_00000001").unwrap();
    let one = world.get("/orders/ped_00000001").send().await.unwrap();
    assert_eq!(&one.json::<serde_json::Value>().await.unwrap(), listed);
    for unknown in ["ped_00000003", "ped_1", "x"] {
        let answer = world.get(&format!("/orders/{unknown}")).send().await;
        assert_eq!(answer.unwrap().status(), 404);
    }
}

#[tokio::test]
async fn a_wrong_token_is_401_and_a_made_up_page_400() {
    let world = World::with_orders(1).await;
    let url = format!("{}/orders", world.url);
    let without = world.client.get(&url).send().await.unwrap();
    assert_eq!(without.status(), 401);
    let wrong = world.client.get(&url).bearer_auth("x").send().await;
    assert_eq!(wrong.unwrap().status(), 401);
    let made_up = world.get("/orders?page_token=x").send().await.unwrap();
    assert_eq!(made_up.status(), 400);
}

#[tokio::test]
async fn now_and_then_the_api_says_later() {
    let world = World::with_orders(1).await;
    for _ in 0..300 {
        world.page(&[]).await;
    }
    let ledger = world.get("/ledger").send().await.unwrap();
    let ledger: serde_json::Value = ledger.json().await.unwrap();
    let throttled = ledger["api"]["throttled"].as_u64().unwrap();
    assert!((1..30).contains(&throttled), "{throttled}");
}
