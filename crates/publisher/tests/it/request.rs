//! What a destination's settings make of its request, and of the answer.

use std::time::Duration;

use serde_json::json;
use service::settings::{HttpMethod, Signing};

use crate::{
    sink::{Reply, Sink},
    stage::{Stage, span},
};

fn status(text: &str) -> service::settings::StatusRange {
    serde_json::from_value(json!(text)).unwrap()
}

#[tokio::test]
async fn method_path_headers_and_body_are_the_destinations_own() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&format!("{}?tenant=7", sink.url())).await;
    let key = stage.secret("key", "s3cr3t");
    let http = stage.http();
    http.method = HttpMethod::Put;
    http.path = Some("/orders/{{ data.id }}/{{ data.effect }}?by={{ data.source }}".to_owned());
    http.headers = [("x-api-key".to_owned(), key), ("accept".to_owned(), text("application/json"))].into();
    http.body =
        Some(r#"{"order": {{ data.id }}, "cents": {{ data.fields.total_minor }}, "paid": true}"#.to_owned());
    http.content_type = Some("application/json; charset=utf-8".to_owned());
    let id = stage.effect("ped/1 \"ã\"", "release_picking", 0).await;
    assert_eq!(stage.courier().round().await.unwrap(), 1);
    let call = sink.calls().remove(0);
    assert_eq!(call.method, "PUT");
    assert_eq!(
        call.uri.to_string(),
        "/effects/orders/ped%2F1%20%22%C3%A3%22/release_picking?tenant=7&by=loja"
    );
    assert_eq!((call.header("x-api-key"), call.header("accept")), ("s3cr3t", "application/json"));
    assert_eq!(call.header("content-type"), "application/json; charset=utf-8");
    assert_eq!(call.header("idempotency-key"), id.to_string());
    assert_eq!(call.json(), json!({"order": "ped/1 \"ã\"", "cents": 12990, "paid": true}));
    assert!(call.headers.contains_key("webhook-signature"), "the template's bytes are what is signed");
}

fn text(text: &str) -> service::settings::HeaderSource {
    service::settings::HeaderSource::Text(text.to_owned())
}

#[tokio::test]
async fn a_secret_header_follows_its_file() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    let key = stage.secret("key", "first");
    stage.http().headers = [("authorization".to_owned(), key)].into();
    let courier = stage.courier();
    stage.effect("ped_1", "release_picking", 0).await;
    courier.round().await.unwrap();
    stage.secret("key", "second");
    testkit::eventually_within(Duration::from_secs(20), "the new secret is used", true, || async {
        stage.effect("ped_2", "release_picking", 0).await;
        courier.round().await.unwrap();
        sink.calls().last().unwrap().header("authorization") == "second"
    })
    .await;
    assert_eq!(sink.calls()[0].header("authorization"), "first");
}

#[tokio::test]
async fn without_signing_there_is_no_signature_but_always_the_key() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.http().signing = Signing::None;
    stage.http().secrets.clear();
    let id = stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    let call = sink.calls().remove(0);
    assert!(!call.headers.contains_key("webhook-signature"));
    assert_eq!(call.header("idempotency-key"), id.to_string());
}

#[tokio::test]
async fn a_template_that_misses_a_value_kills_the_effect_and_calls_nobody() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.http().body = Some(r#"{"phone": {{ data.fields.phone }}}"#.to_owned());
    let id = stage.effect("ped_1", "release_picking", 0).await;
    stage.courier().round().await.unwrap();
    let shown = stage.shown(id).await;
    assert_eq!((shown.state.as_str(), sink.count()), ("dead", 0));
    assert!(shown.last_error.unwrap().starts_with("body: "));
}

#[tokio::test]
async fn the_statuses_of_success_are_the_destinations_own() {
    for (wanted, answer, state) in [
        (vec!["2xx", "409"], 409, "delivered"),
        (vec!["2xx", "409"], 204, "delivered"),
        (vec!["200"], 202, "pending"),
        (vec!["200"], 422, "dead"),
        (vec!["200"], 503, "pending"),
    ] {
        let sink = Sink::start(move |_| Reply::status(answer)).await;
        let mut stage = Stage::new(&sink.url()).await;
        stage.http().success_status = wanted.iter().map(|text| status(text)).collect();
        let id = stage.effect("ped_1", "release_picking", 0).await;
        stage.courier().round().await.unwrap();
        assert_eq!(stage.shown(id).await.state, state, "{wanted:?} and {answer}");
    }
}

#[tokio::test]
async fn an_effect_that_is_too_old_is_dead_without_a_call() {
    let sink = Sink::willing().await;
    let mut stage = Stage::new(&sink.url()).await;
    stage.care().age_max = Some(span(60_000));
    let (old, young) = (stage.effect("ped_1", "release_picking", 0).await, {
        stage.clock.advance_seconds(61);
        stage.effect("ped_2", "release_picking", 0).await
    });
    stage.courier().round().await.unwrap();
    assert_eq!(
        (stage.shown(old).await.state.as_str(), stage.shown(young).await.state.as_str()),
        ("dead", "delivered")
    );
    assert!(stage.shown(old).await.last_error.unwrap().contains("age_max"));
    assert_eq!(sink.count(), 1);
}
