//! Answers that are no pages, addresses that may not be called, and what the messages say.

use std::time::Duration;

use crate::{
    store::{Answer, TOKEN},
    world::{FIRST, World},
};

const NO_PAGES: [&str; 5] = ["", "<html>busy</html>", "[]", "{\"data\":null}", "{\"data\":[{\"id\":1}"];

#[tokio::test]
async fn an_answer_that_is_no_page_moves_no_cursor() {
    for body in NO_PAGES {
        let world = World::new().await;
        world.store.fill(4);
        world.store.page_size(2);
        let no_page = Answer::Body(body.to_owned());
        world.store.script([Answer::Page, no_page.clone(), no_page]);
        let reason = world.failing_round().await;
        assert!(reason.starts_with("the answer is no page: "), "{body}: {reason}");
        assert_eq!(world.store.queries().len(), 3, "two attempts");
        assert_eq!(world.cursor().await.unwrap(), FIRST);
        assert_eq!(world.events().await.len(), 2);
        assert_eq!(world.round().await.stored, 2);
    }
}

#[tokio::test]
async fn an_answer_that_is_no_page_is_asked_for_again_as_a_500_is() {
    let world = World::new().await;
    world.store.fill(12);
    world.store.page_size(2);
    let answers = NO_PAGES.map(|body| [Answer::Page, Answer::Body(body.to_owned())]);
    world.store.script(answers.into_iter().flatten());
    // Each page has its own attempts.
    assert_eq!(world.round().await.stored, 12);
    let queries = world.store.queries();
    assert_eq!(queries.len(), 6 + NO_PAGES.len());
    assert!((1..=9).step_by(2).all(|at| queries[at] == queries[at + 1]), "the same page: {queries:?}");
}

#[tokio::test]
async fn attempts_count_for_one_page_whatever_fails() {
    let world = World::new().await;
    world.store.fill(1);
    let broken = Answer::Status(500, "x-why", "no".to_owned());
    world.store.script([broken, Answer::Body("<html>busy</html>".to_owned())]);
    assert!(world.failing_round().await.starts_with("the answer is no page: "));
    assert_eq!(world.store.queries().len(), 2);
}

#[tokio::test]
async fn a_provider_that_leads_in_a_circle_is_not_followed() {
    let world = World::new().await;
    let page = |next: &str| Answer::Body(format!("{{\"data\":[],\"next\":\"{next}\"}}"));
    world.store.script([page("a"), page("b"), page("a"), page("b")]);
    assert_eq!(world.failing_round().await, "the provider names a page that was read before");
    assert_eq!(world.store.queries().len(), 3);
}

#[tokio::test]
async fn a_refused_token_is_named_and_not_shown() {
    let world = World::new().await;
    for status in [401, 403] {
        world.store.script([Answer::Status(status, "x-why", "no".to_owned())]);
        let reason = world.failing_round().await;
        let file = world.config.path().join("api_token");
        assert_eq!(
            reason,
            format!("the provider refuses the token (status {status}): check file:{}", file.display())
        );
        assert!(!reason.contains(TOKEN));
    }
    assert_eq!(world.store.queries().len(), 2, "no second attempt");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let world = World::new().await;
    let elsewhere = format!("http://{}/api/elsewhere", world.store.address);
    world.store.script([Answer::Status(302, "location", elsewhere)]);
    assert!(world.failing_round().await.contains("redirect (status 302)"));
    assert_eq!(world.store.seen().len(), 1);
}

#[tokio::test]
async fn an_oversized_answer_is_refused() {
    let world = World::with("response_bytes_max = 2000").await;
    world.store.script([Answer::Body(format!("{{\"data\":[],\"x\":\"{}\"}}", "x".repeat(100_000)))]);
    let reason = world.failing_round().await;
    assert_eq!(reason, "the answer is larger than 2000 bytes (reconciler.response_bytes_max)");
    assert_eq!(world.cursor().await, None);
}

#[tokio::test]
async fn internal_addresses_are_refused_unless_allowed() {
    let world = World::with("allow_addresses = []").await;
    for host in ["127.0.0.1", "localhost"] {
        world.write("api_url", &format!("http://{host}:{}/api", world.store.address.port()));
        let reason = world.failing_round().await;
        assert!(reason.contains("is an internal address"), "{host}: {reason}");
    }
    assert!(world.store.seen().is_empty());
}

#[tokio::test]
async fn a_provider_that_does_not_answer_in_time_fails_the_round() {
    let world = World::with("request_timeout = \"200ms\"").await;
    let slow = || Answer::Slow(Duration::from_secs(60));
    world.store.script([slow(), slow()]);
    assert_eq!(world.failing_round().await, "no answer in time");
}

#[tokio::test]
async fn a_token_that_was_changed_is_used_from_then_on() {
    let world = World::new().await;
    let reader = world.reader();
    reader.round().await;
    world.write("api_token", "another\n");
    testkit::eventually("the new token", "Bearer another".to_owned(), async || {
        reader.round().await;
        world.store.seen().pop().unwrap().authorization.unwrap()
    })
    .await;
}
