//! What a profile changes about the answers.

use std::fs;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use tempfile::TempDir;
use testkit::{Event, SECRET, sign};

use crate::app::App;

/// The store's own profile with another `[receive]`.
fn receiving(keys: &str) -> TempDir {
    let shipped = include_str!("../../../../profiles/loja.toml");
    let own = shipped.replacen("success = 200\nrefusal = 401\n", keys, 1);
    assert_ne!(own, shipped);
    let dir = tempfile::tempdir().unwrap();
    for folder in ["config", "profiles"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    fs::write(dir.path().join("profiles/own.toml"), own).unwrap();
    let source = "[sources.own]\nprofile = \"own\"\nsecrets = [\"env:LOJA_WEBHOOK_SECRET\"]\n";
    fs::write(dir.path().join("config/sources.toml"), source).unwrap();
    dir
}

async fn start(dir: &TempDir) -> App {
    let config = dir.path().join("config");
    App::start_with(&[("ORDEM_TEST_CONFIG", config.to_str().unwrap())]).await
}

/// Posts an event to the source with this secret and this content type; the status.
async fn post(app: &App, event: &Event, secret: &str, content_type: Option<&str>) -> u16 {
    let body = event.body();
    let mut headers = HeaderMap::new();
    headers.insert("x-loja-signature", HeaderValue::from_str(&sign(secret, &body)).unwrap());
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
    }
    app.post_with("/webhooks/own", headers, body).await.status().as_u16()
}

#[tokio::test]
async fn where_the_profile_restricts_content_types_another_one_is_415_and_leaves_nothing() {
    let dir = receiving("content_types = [\"application/json\"]\n");
    let app = start(&dir).await;
    let event = Event::new("ped_1", "paid", 2);
    for other in
        [Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonx"), None]
    {
        assert_eq!(post(&app, &event, SECRET, other).await, 415, "{other:?}");
    }
    assert_eq!(app.events().await, 0);
    assert_eq!(app.database.count("select count(*) from ordem_engine.inbox_keys").await, 0);
    for right in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(post(&app, &event, SECRET, Some(right)).await, 200, "{right}");
    }
    assert_eq!(app.events().await, 1);
}

#[tokio::test]
async fn a_profiles_own_statuses_tell_the_provider_that_its_event_is_stored_or_refused() {
    let dir = receiving("success = 204\nrefusal = 403\n");
    let app = start(&dir).await;
    let event = Event::new("ped_1", "paid", 2);
    assert_eq!(post(&app, &event, SECRET, None).await, 204);
    assert_eq!(post(&app, &event, SECRET, None).await, 204, "a duplicate as well");
    assert_eq!(post(&app, &event, "another", None).await, 403);
    assert_eq!(app.events().await, 1);
    let counted =
        |status: &str| format!("ordem_receiver_requests_total{{source=\"own\",status=\"{status}\"}}");
    assert!((app.daemon.metric(&counted("204")).await - 2.0).abs() < 0.5);
    assert!((app.daemon.metric(&counted("403")).await - 1.0).abs() < 0.5);
}
