//! A window of time, without the cursor.

use db::inbox::Origin;
use reconciler::End;
use serde_json::json;

use crate::{
    store::{Answer, order},
    world::{World, at},
};

#[tokio::test]
async fn a_window_stores_what_changed_in_it_and_tells_its_progress() {
    let world = World::sorted().await;
    world.store.fill(120);
    world.store.page_size(10);
    let mut seen = Vec::new();
    let (from, to) = (at("2026-01-02T03:00:10Z"), at("2026-01-02T03:00:44Z"));
    let (pulled, end) =
        world.reader().pull_window(from, to, Origin::Backfill, &mut |pulled| seen.push(*pulled)).await;
    assert!(matches!(end, End::Complete), "{end:?}");
    assert_eq!((pulled.stored, pulled.newest), (35, Some(to)));
    assert_eq!(seen.iter().map(|pulled| pulled.stored).collect::<Vec<_>>(), [10, 20, 30, 35, 35]);
    // The list is by time: what lies beyond the window is not read to its end.
    assert_eq!(world.store.queries().len(), 5);
    assert!(world.events().await.iter().all(|event| event.ends_with("@backfill")));
    assert_eq!(world.cursor().await, None);
    let again = world.reader().pull_window(from, to, Origin::Backfill, &mut |_| {}).await;
    assert_eq!(again.0.stored, 0);
}

#[tokio::test]
async fn a_window_of_a_list_in_no_order_is_read_to_the_lists_end() {
    let world = World::new().await;
    let of = |id: &str, instant: &str| order(id, "paid", 2, instant);
    // All of the first page lies after the window, and what lies in it comes last.
    let first = [of("ped_1", "2026-01-02T03:05:00Z"), of("ped_2", "2026-01-02T03:06:00Z")];
    let last = [of("ped_3", "2026-01-02T03:00:30Z")];
    world.store.script([
        Answer::Body(json!({ "data": first, "next": "2" }).to_string()),
        Answer::Body(json!({ "data": last, "next": null }).to_string()),
    ]);
    let (from, to) = (at("2026-01-02T03:00:00Z"), at("2026-01-02T03:01:00Z"));
    let (pulled, end) = world.reader().pull_window(from, to, Origin::Backfill, &mut |_| {}).await;
    assert!(matches!(end, End::Complete), "{end:?}");
    assert_eq!((pulled.pages, pulled.stored), (2, 1));
    assert_eq!(world.events().await, ["ped_3@backfill"]);
}

#[tokio::test]
async fn counting_a_window_tells_what_storing_it_would_and_stores_nothing() {
    let world = World::new().await;
    world.store.fill(30);
    world.store.page_size(10);
    let (from, to) = (at("2026-01-02T03:00:00Z"), at("2026-01-02T03:01:00Z"));
    let reader = world.reader();
    let (counted, end) = reader.count_window(from, to, Origin::Backfill, &mut |_| {}).await;
    assert!(matches!(end, End::Complete), "{end:?}");
    assert!(world.events().await.is_empty());
    let (pulled, _) = reader.pull_window(from, to, Origin::Backfill, &mut |_| {}).await;
    assert_eq!((counted.pages, counted.items, counted.stored), (3, 30, 30));
    assert_eq!(counted, pulled);
}
