//! The subscription at the provider: found well, disabled or gone, and switched on again where that is wanted.

use profile::Subscription;
use serde_json::json;

use crate::{
    api::{Api, ok, status},
    stage::{ITEM, Stage},
};

const WATCH: &str = "[api]\nauth = \"bearer\"\n[api.get]\npath = \"/orders/{id}\"\n\
     [watch]\npath = \"/hooks\"\nitems = \"data\"\nmatch = { path = \"config.url\", equals = \"{url}\" }\n\
     healthy = \"body.active == true\"\nevery = \"10m\"\n\
     [watch.enable]\nmethod = \"PATCH\"\npath = \"/hooks/{id}\"\nbody = '{\"active\":true}'\n";

const URL: &str = "https://hooks.example.com/webhooks/test";

fn hook(id: u64, url: &str, active: bool) -> serde_json::Value {
    json!({ "id": id, "config": { "url": url }, "active": active })
}

async fn stage(api: &Api, keys: &str) -> Stage {
    Stage::with(&format!("{WATCH}{ITEM}"), &api.url, "t", &format!("public_url = \"{URL}\"\n{keys}")).await
}

#[tokio::test]
async fn ours_is_found_among_others_and_a_slash_at_the_end_is_none_of_the_address() {
    let others = [hook(1, "https://elsewhere.example.com", false), hook(2, &format!("{URL}/"), true)];
    let api = Api::start(move |_| ok(json!({ "data": others }))).await;
    let looked = stage(&api, "").await.reader().look_after().await.unwrap().unwrap();
    assert_eq!((looked.subscription, looked.enabled), (Subscription::Healthy, false));
}

#[tokio::test]
async fn one_that_is_gone_is_told_and_nothing_is_made_in_its_place() {
    let api = Api::start(|_| ok(json!({ "data": [hook(1, "https://elsewhere.example.com", true)] }))).await;
    let looked = stage(&api, "reenable = true").await.reader().look_after().await.unwrap().unwrap();
    assert_eq!((looked.subscription, looked.enabled), (Subscription::Missing, false));
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn a_disabled_one_is_switched_on_only_where_that_is_configured() {
    for (keys, calls) in [("", 1), ("reenable = true", 2)] {
        let api = Api::start(|asked| match asked.method.as_str() {
            "PATCH" => ok("{}"),
            _ => ok(json!({ "data": [hook(77, URL, false)] })),
        })
        .await;
        let looked = stage(&api, keys).await.reader().look_after().await.unwrap().unwrap();
        let disabled = Subscription::Disabled { id: Some("77".to_owned()) };
        assert_eq!((looked.subscription, looked.enabled), (disabled, calls == 2));
        let asked = api.asked();
        assert_eq!(asked.len(), calls);
        if let Some(enable) = asked.get(1) {
            assert_eq!((enable.path.as_str(), enable.body.as_str()), ("/hooks/77", "{\"active\":true}"));
            assert_eq!(enable.header("content-type"), Some("application/json"));
            assert_eq!(enable.header("authorization"), Some("Bearer t"));
        }
    }
}

#[tokio::test]
async fn an_answer_that_tells_nothing_is_an_error_and_no_news() {
    for answer in [ok("<html>"), ok(r#"{"data":{}}"#), status(403)] {
        let api = Api::start(move |_| answer.clone()).await;
        assert!(stage(&api, "").await.reader().look_after().await.is_err());
    }
}
