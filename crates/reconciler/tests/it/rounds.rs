//! What a round stores, and where it leaves the cursor.

use domain::Clock as _;
use reconciler::End;
use serde_json::json;
use testkit::Event;

use crate::{
    store::{Answer, TOKEN, order},
    world::{FIRST, World},
};

#[tokio::test]
async fn what_never_arrived_enters_the_inbox_as_reconciled() {
    let world = World::new().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:05Z");
    world.store.put("ped_2", "open", 1, "2026-01-02T03:05:00.25Z");
    let pulled = world.round().await;
    assert_eq!((pulled.pages, pulled.items, pulled.stored, pulled.recovered), (1, 2, 2, 2));
    assert_eq!(world.events().await, ["ped_1@reconcile", "ped_2@reconcile"]);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:05:00.25Z");
    let row = "select count(*) from ordem_engine.inbox_queue";
    assert_eq!(world.database.count(row).await, 2);
    let exact = order("ped_1", "paid", 2, "2026-01-02T03:04:05Z").to_string();
    let sql = format!(
        "select count(*) from ordem_engine.inbox_events where convert_from(body, 'UTF8') = '{exact}'"
    );
    assert_eq!(world.database.count(&sql).await, 1);
}

#[tokio::test]
async fn the_query_asks_for_every_status_from_the_overlap_on_with_the_token_in_the_header() {
    let world = World::new().await;
    world.store.put("ped_1", "canceled", 3, "2026-01-02T03:04:05Z");
    world.round().await;
    world.round().await;
    let seen = world.store.seen();
    // No cursor: the first look-back. Then the cursor less the overlap. No parameter narrows the statuses.
    assert_eq!(seen[0].query, "updated_since=2026-01-01T03%3A10%3A00Z&limit=100");
    assert_eq!(seen[1].query, "updated_since=2026-01-02T02%3A59%3A05Z&limit=100");
    for seen in seen {
        assert_eq!(seen.path, "/api/orders");
        assert_eq!(seen.authorization.unwrap(), format!("Bearer {TOKEN}"));
        assert!(!seen.query.contains(TOKEN));
    }
    assert_eq!(world.events().await, ["ped_1@reconcile"]);
}

#[tokio::test]
async fn what_the_row_knows_is_not_stored_again_and_what_is_newer_is() {
    let world = World::new().await;
    world.webhook(&Event::new("ped_1", "created", 1)).await;
    world.webhook(&Event::new("ped_1", "paid", 2)).await;
    world.webhook(&Event::new("ped_2", "created", 1)).await;
    world.apply().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:05Z");
    world.store.put("ped_2", "paid", 2, "2026-01-02T03:04:06Z");
    let pulled = world.round().await;
    assert_eq!((pulled.items, pulled.stored), (2, 1));
    assert_eq!(world.events().await, ["ped_1@webhook", "ped_1@webhook", "ped_2@webhook", "ped_2@reconcile"]);
    world.apply().await;
    assert_eq!(world.round().await.stored, 0);
    // A round later the store has moved on.
    world.store.put("ped_1", "shipped", 3, "2026-01-02T03:09:00Z");
    assert_eq!(world.round().await.stored, 1);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:09:00Z");
}

#[tokio::test]
async fn a_known_status_with_another_value_is_news() {
    let world = World::new().await;
    world.webhook(&Event::new("ped_1", "paid", 2)).await;
    world.apply().await;
    let mut item = order("ped_1", "paid", 3, "2026-01-02T03:04:05Z");
    item["customer_email"] = json!("new@example.com");
    world.store.put_raw("ped_1", item);
    assert_eq!(world.round().await.stored, 1);
}

#[tokio::test]
async fn the_same_state_polled_before_it_is_applied_folds() {
    let world = World::new().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:05Z");
    assert_eq!(world.round().await.recovered, 1);
    let again = world.round().await;
    assert_eq!((again.items, again.stored, again.recovered), (1, 0, 0));
    assert_eq!(world.events().await.len(), 1);
}

#[tokio::test]
async fn orders_that_change_while_pages_are_read_are_not_missed() {
    let world = World::new().await;
    world.store.fill(30);
    world.store.page_size(4);
    // After each page one that was read moves to the end, and one that was not read moves as well.
    world.store.after_page(|page, orders| {
        let later = |at: usize| format!("2026-01-02T03:05:{at:02}Z");
        for (at, id) in [(page, format!("ped_{page:03}")), (page + 20, format!("ped_{:03}", 29 - page))] {
            if at < 50 && orders.contains_key(&id) {
                orders.insert(id.clone(), order(&id, "shipped", 3, &later(at)));
            }
        }
    });
    let first = world.round().await;
    assert!(first.pages >= 8, "{first:?}");
    world.store.after_page(|_, _| {});
    world.round().await;
    let orders = "select count(distinct resource_id) from ordem.events";
    assert_eq!(world.database.count(orders).await, 30);
    // All the latest states are in the inbox, whatever the pages showed in between.
    world.apply().await;
    assert_eq!(world.round().await.stored, 0);
    let shipped = "select count(*) from ordem.orders where status = 'shipped'";
    assert_eq!(world.database.count(shipped).await, world.store.count("shipped"));
}

#[tokio::test]
async fn a_row_of_the_second_the_cursor_stands_at_is_read_although_it_came_later() {
    let world = World::new().await;
    world.store.put("ped_2", "paid", 2, "2026-01-02T03:04:05Z");
    world.round().await;
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:04:05Z");
    // Committed late at the provider: the same second, and it sorts before what was read.
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:05Z");
    world.store.put("ped_0", "paid", 2, "2026-01-02T03:00:30Z");
    assert_eq!(world.round().await.stored, 2);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:04:05Z");
}

#[tokio::test]
async fn a_clock_ahead_of_the_providers_moves_no_cursor() {
    let world = World::new().await;
    // Our clock shows 03:10, the provider's 03:04.
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:00Z");
    world.round().await;
    world.round().await;
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:04:00Z");
    assert!(world.store.queries()[1].starts_with("updated_since=2026-01-02T02%3A59%3A00Z"));
    world.store.put("ped_2", "paid", 2, "2026-01-02T03:05:00Z");
    assert_eq!(world.round().await.stored, 1);
}

#[tokio::test]
async fn what_changed_within_the_lag_is_left_for_the_next_round() {
    let world = World::new().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:09:54Z");
    world.store.put("ped_2", "paid", 2, "2026-01-02T03:09:57Z");
    assert_eq!(world.round().await.stored, 1);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:09:54Z");
    world.clock.advance_seconds(10);
    assert_eq!(world.round().await.stored, 1);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:09:57Z");
}

#[tokio::test]
async fn an_instant_far_ahead_is_stored_at_once_and_moves_no_cursor() {
    let world = World::new().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:05Z");
    world.store.put("ped_2", "paid", 2, "2099-01-01T00:00:00Z");
    assert_eq!(world.round().await.stored, 2);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:04:05Z");
}

#[tokio::test]
async fn a_shop_without_changes_is_read_from_the_first_rounds_start_for_ever() {
    let world = World::new().await;
    world.round().await;
    world.clock.advance_seconds(3 * 86_400);
    world.round().await;
    assert_eq!(world.cursor().await.unwrap(), "2026-01-01T03:10:00Z");
    assert!(world.store.queries()[1].starts_with("updated_since=2026-01-01T03%3A05%3A00Z"));
}

#[tokio::test]
async fn the_cursor_never_moves_back() {
    let world = World::new().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:09:00Z");
    world.round().await;
    world.clock.advance_seconds(-3_600);
    world.round().await;
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:09:00Z");
    world.clock.advance_seconds(3_600);
    let client = world.pool.get().await.unwrap();
    let earlier = "2026-01-01T00:00:00Z".parse().unwrap();
    let now = world.clock.now();
    let stays = db::cursors::advance(&client, "loja", "/orders", earlier, now).await.unwrap();
    assert_eq!(stays.to_string(), "2026-01-02T03:09:00Z");
    // Finer than a microsecond is cut and not rounded up.
    let fine = "2026-01-02T03:09:01.123456999Z".parse().unwrap();
    let moved = db::cursors::advance(&client, "loja", "/orders", fine, now).await.unwrap();
    assert_eq!(moved.to_string(), "2026-01-02T03:09:01.123456Z");
}

#[tokio::test]
async fn an_item_that_cannot_be_read_is_stored_once_and_stops_nothing() {
    let world = World::new().await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:04:05Z");
    world.store.put_raw("ped_2", json!({"id": ["?"], "updated_at": "2026-01-02T03:04:06Z"}));
    world
        .store
        .put_raw("ped_3", json!({"id": "ped_3", "status": "lost", "updated_at": "2026-01-02T03:04:07Z"}));
    world
        .store
        .put_raw("ped_4", json!({"id": "ped\u{0}4", "status": "paid", "updated_at": "2026-01-02T03:04:07Z"}));
    world.store.put("ped_5", "paid", 2, "2026-01-02T03:04:08Z");
    let pulled = world.round().await;
    assert_eq!((pulled.items, pulled.stored, pulled.recovered), (5, 5, 2));
    assert_eq!(world.round().await.stored, 0);
    assert_eq!(
        world.events().await,
        ["ped_1@reconcile", "ped_3@reconcile", "ped_5@reconcile", "-@reconcile", "-@reconcile"]
    );
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:04:08Z");
}

#[tokio::test]
async fn a_list_that_breaks_its_promise_moves_the_cursor_only_at_its_end() {
    let world = World::sorted().await;
    let page = |id: &str, early: &str, late: &str, next: &str| {
        let data = [order(id, "paid", 2, late), order(&format!("{id}b"), "paid", 2, early)];
        Answer::Body(
            json!({ "data": data, "next": if next.is_empty() { None } else { Some(next) } }).to_string(),
        )
    };
    let first = page("ped_1", "2026-01-02T03:01:00Z", "2026-01-02T03:08:00Z", "2");
    let second = page("ped_2", "2026-01-02T03:02:00Z", "2026-01-02T03:07:00Z", "");
    world.store.script([first.clone(), Answer::Status(404, "x-why", "no".to_owned())]);
    world.failing_round().await;
    assert_eq!(world.cursor().await.unwrap(), FIRST);
    assert_eq!(world.events().await.len(), 2);
    world.store.script([first, second]);
    assert_eq!(world.round().await.stored, 2);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:08:00Z");
}

#[tokio::test]
async fn a_round_ends_after_the_pages_it_may_read_and_the_next_goes_on() {
    // The overlap holds more pages than a round may read: it still gets on.
    let world = World::sorted_with("pages_max = 2").await;
    world.store.fill(10);
    world.store.page_size(2);
    let mut cursors = Vec::new();
    for expected in [false, false, true] {
        let (pulled, end) = world.reader().round().await;
        assert!(matches!(end, End::Complete) == expected, "{end:?} {pulled:?}");
        cursors.push(world.cursor().await.unwrap());
    }
    assert_eq!(cursors, ["2026-01-02T03:00:03Z", "2026-01-02T03:00:07Z", "2026-01-02T03:00:09Z"]);
    assert_eq!(world.events().await.len(), 10);
}

#[tokio::test]
async fn a_round_over_a_list_in_no_order_that_may_read_no_more_pages_moves_no_cursor() {
    let world = World::with("pages_max = 2").await;
    world.store.fill(10);
    world.store.page_size(2);
    for _ in 0..2 {
        let (pulled, end) = world.reader().round().await;
        assert!(matches!(end, End::PagesMax) && pulled.pages == 2, "{end:?} {pulled:?}");
        assert_eq!(world.cursor().await.unwrap(), FIRST);
        world.clock.advance_seconds(86_400);
    }
    assert_eq!(world.events().await.len(), 4);
    // Read after the file of the others.
    world.write("with_more.toml", "[reconciler]\npages_max = 5\n");
    assert_eq!(world.round().await.stored, 6);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:09Z");
}

#[tokio::test]
async fn a_provider_that_never_comes_to_an_end_is_left_after_a_while() {
    let world = World::with("pages_max = 2").await;
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:09:00Z");
    world.round().await;
    let old = order("ped_1", "paid", 2, "2026-01-02T03:09:00Z");
    world.store.script((0..100).map(|at| Answer::Body(json!({ "data": [old], "next": at }).to_string())));
    let (pulled, end) = world.reader().round().await;
    assert!(matches!(end, End::PagesMax) && pulled.pages == 20, "{end:?} {pulled:?}");
}

#[tokio::test]
async fn a_reader_without_a_token_or_an_address_is_off_and_says_which() {
    let world = World::new().await;
    std::fs::remove_file(world.config.path().join("api_token")).unwrap();
    let error = reconciler::SourceReader::open("loja", world.parts()).unwrap_err();
    assert!(matches!(error, reconciler::OpenError::Off(_)));
    assert!(error.to_string().starts_with("api_token: file:"), "{error}");
    let error = reconciler::SourceReader::open("nowhere", world.parts()).unwrap_err();
    assert!(matches!(error, reconciler::OpenError::Unusable(_)), "{error}");
}

/// Found from outside: a list by id whose first page happens to ascend moved the cursor past what came after it.
#[tokio::test]
async fn a_list_by_id_whose_first_page_happens_to_ascend_loses_nothing_when_the_round_fails() {
    let world = World::new().await;
    world.store.put("ped_0", "paid", 2, "2026-01-02T00:00:00Z");
    world.store.put("ped_1", "paid", 2, "2026-01-02T03:09:00Z");
    world.store.put("ped_2", "paid", 2, "2026-01-02T01:00:00Z");
    let by_id = [
        order("ped_0", "paid", 2, "2026-01-02T00:00:00Z"),
        order("ped_1", "paid", 2, "2026-01-02T03:09:00Z"),
    ];
    let first = json!({ "data": by_id, "next": "2" }).to_string();
    let busy = || Answer::Body("<html>busy</html>".to_owned());
    world.store.script([Answer::Body(first), busy(), busy()]);
    world.failing_round().await;
    world.round().await;
    assert_eq!(world.events().await, ["ped_0@reconcile", "ped_1@reconcile", "ped_2@reconcile"]);
}
