//! Waits that the provider asks for, and failures on the way.

use std::time::Duration;

use crate::{
    store::{Answer, Seen},
    world::{FIRST, World},
};

fn asked_after(seen: &[Seen], at: usize) -> Duration {
    seen[at].at - seen[at - 1].at
}

#[tokio::test]
async fn a_429_in_the_middle_waits_as_told_and_goes_on_at_the_same_page() {
    let world = World::new().await;
    world.store.fill(6);
    world.store.page_size(2);
    let in_two_seconds = "Fri, 02 Jan 2026 03:10:02 GMT".to_owned();
    world.store.script([
        Answer::Page,
        Answer::Status(429, "retry-after", "1".to_owned()),
        Answer::Status(503, "retry-after", in_two_seconds),
        Answer::Status(429, "retry-after", "0".to_owned()),
    ]);
    let pulled = world.round().await;
    assert_eq!((pulled.pages, pulled.stored), (3, 6));
    let seen = world.store.seen();
    let queries = world.store.queries();
    // One first page, the second asked four times, the third once. No wait used an attempt (there are two).
    assert_eq!(queries.len(), 6);
    assert!(queries[1].contains("page_token=") && queries[1..5].iter().all(|query| *query == queries[1]));
    assert!(asked_after(&seen, 2) >= Duration::from_secs(1));
    assert!(asked_after(&seen, 3) >= Duration::from_secs(2));
    assert!(asked_after(&seen, 4) >= Duration::from_secs(1), "no hammering when told 0");
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:05Z");
}

#[tokio::test]
async fn a_wait_is_obeyed_up_to_the_bound() {
    let world = World::with("retry_after_max = \"1s\"").await;
    world.store.fill(1);
    world.store.script([Answer::Status(429, "retry-after", "86400".to_owned())]);
    assert_eq!(world.round().await.stored, 1);
    assert!(asked_after(&world.store.seen(), 1) < Duration::from_secs(5));
}

#[tokio::test]
async fn a_provider_that_never_stops_asking_for_waits_ends_the_round_and_the_next_goes_on_at_the_cursor() {
    let world = World::sorted_with("retry_after_max = \"1s\"").await;
    world.store.fill(6);
    world.store.page_size(2);
    let busy = || Answer::Status(429, "retry-after", "60".to_owned());
    world.store.script([Answer::Page, busy(), busy(), busy(), busy()]);
    let reason = world.failing_round().await;
    assert_eq!(
        reason,
        "the provider wants to be left alone: it made us wait 3 s for one page and asks for more"
    );
    assert_eq!(world.store.queries().len(), 5, "the first page, and the second after each of three waits");
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:01Z");
    assert_eq!(world.round().await.stored, 4);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:05Z");
}

#[tokio::test]
async fn waits_before_one_page_do_not_count_for_the_next() {
    let world = World::with("retry_after_max = \"1s\"").await;
    world.store.fill(4);
    world.store.page_size(2);
    let busy = || Answer::Status(429, "retry-after", "1".to_owned());
    world.store.script([busy(), busy(), Answer::Page, busy(), busy(), Answer::Page]);
    assert_eq!(world.round().await.stored, 4);
}

#[tokio::test]
async fn a_page_that_fails_for_good_leaves_the_cursor_where_the_stored_pages_end() {
    let world = World::sorted().await;
    world.store.fill(6);
    world.store.page_size(2);
    let broken = || Answer::Status(500, "x-why", "no".to_owned());
    world.store.script([Answer::Page, Answer::Page, broken(), broken()]);
    let reason = world.failing_round().await;
    assert_eq!(reason, "the provider answered with status 500");
    assert_eq!(world.store.queries().len(), 4, "two attempts");
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:03Z");
    assert_eq!(world.events().await.len(), 4);
    // The next round goes on and brings the rest.
    assert_eq!(world.round().await.stored, 2);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:05Z");
}

#[tokio::test]
async fn a_page_that_fails_for_good_leaves_the_cursor_where_it_was_if_the_list_is_in_no_order() {
    let world = World::new().await;
    world.store.fill(6);
    world.store.page_size(2);
    let broken = || Answer::Status(500, "x-why", "no".to_owned());
    world.store.script([Answer::Page, Answer::Page, broken(), broken()]);
    world.failing_round().await;
    assert_eq!(world.cursor().await.unwrap(), FIRST);
    assert_eq!(world.events().await.len(), 4);
    // However much later the next round comes, it looks back from where the first one did.
    world.clock.advance_seconds(3 * 86_400);
    assert_eq!(world.round().await.stored, 2);
    assert_eq!(world.cursor().await.unwrap(), "2026-01-02T03:00:05Z");
}

#[tokio::test]
async fn a_failure_that_goes_away_costs_only_a_wait() {
    let world = World::new().await;
    world.store.fill(4);
    world.store.page_size(2);
    let busy = Answer::Status(429, "x-why", "no Retry-After".to_owned());
    world.store.script([Answer::Status(502, "x-why", "no".to_owned()), Answer::Page, busy]);
    assert_eq!(world.round().await.stored, 4);
}

#[tokio::test]
async fn a_stop_during_a_wait_ends_the_round_at_once() {
    let world = World::new().await;
    world.store.script([Answer::Status(429, "retry-after", "300".to_owned())]);
    let reader = world.reader();
    let (round, ()) = tokio::join!(reader.round(), async {
        testkit::eventually("the first request", 1, async || world.store.queries().len()).await;
        world.shutdown.trigger();
    });
    assert!(matches!(round.1, reconciler::End::Stopped), "{round:?}");
    assert_eq!(world.cursor().await, None);
}
