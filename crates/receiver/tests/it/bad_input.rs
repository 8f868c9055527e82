//! What bad requests get.

use reqwest::header::{HeaderMap, HeaderValue};
use testkit::{Event, SECRET, eventually, sign};

use crate::app::App;

fn headers(values: &[&[u8]]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append("x-loja-signature", HeaderValue::from_bytes(value).unwrap());
    }
    headers
}

#[tokio::test]
async fn a_signature_that_does_not_hold_is_401_with_no_detail_and_leaves_nothing_in_the_inbox() {
    let app = App::start().await;
    let body = Event::new("ped_1", "paid", 2).body();
    let right = sign(SECRET, &body);
    let mut altered = body.clone();
    altered[20] ^= 1;
    let cases: [(&str, HeaderMap, Vec<u8>); 10] = [
        ("no header", headers(&[]), body.clone()),
        ("empty", headers(&[b""]), body.clone()),
        ("only a prefix", headers(&[b"sha256="]), body.clone()),
        ("odd length", headers(&[b"abc"]), body.clone()),
        ("wrong letters", headers(&["zz".repeat(32).as_bytes()]), body.clone()),
        ("not ASCII", headers(&["é".repeat(32).as_bytes()]), body.clone()),
        ("too long", headers(&["00".repeat(64).as_bytes()]), body.clone()),
        ("another secret", headers(&[sign("another", &body).as_bytes()]), body.clone()),
        ("two different", headers(&[right.as_bytes(), sign("another", &body).as_bytes()]), body.clone()),
        ("altered body", headers(&[right.as_bytes()]), altered),
    ];
    for (name, headers, body) in cases {
        let answer = app.post_with("/webhooks/loja", headers, body).await;
        assert_eq!(answer.status(), 401, "{name}");
        assert!(answer.bytes().await.unwrap().is_empty(), "{name}: no detail");
    }
    assert_eq!(app.events().await, 0);
    assert_eq!(app.database.count("select count(*) from ordem_engine.inbox_keys").await, 0, "no key claimed");
    assert!((app.daemon.metric("ordem_receiver_refused_total{").await - 10.0).abs() < 0.5);
    eventually("a sample is kept outside the inbox", true, || async {
        app.database.count("select count(*) from ordem_engine.refused_requests").await >= 1
    })
    .await;
    // The event itself is as welcome as ever.
    assert_eq!(app.post(body).await.status(), 200);
}

#[tokio::test]
async fn verified_bodies_that_cannot_be_read_are_stored_as_they_came_and_answered_200() {
    let app = App::start().await;
    let deep = format!("{{\"id\":\"e\",\"data\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies: [&[u8]; 9] = [
        b"",
        b"   ",
        b"null",
        b"\"text\"",
        b"{\"id\":",
        b"\xff\xfe\x00",
        "{\"id\":\"evt_\u{e9}\"}".as_bytes(),
        b"{\"id\":\"a\\u0000b\",\"type\":\"order.paid\",\"data\":{\"id\":\"x\"}}",
        deep.as_bytes(),
    ];
    for body in bodies {
        let text = String::from_utf8_lossy(&body[..body.len().min(30)]).into_owned();
        assert_eq!(app.post(body).await.status(), 200, "{text}");
        assert_eq!(app.post(body).await.status(), 200, "{text}: once more");
    }
    assert_eq!(app.events().await, 9, "each once");
}

#[tokio::test]
async fn other_paths_and_methods() {
    let app = App::start().await;
    let body = Event::new("ped_1", "paid", 2).body();
    let signed = || headers(&[sign(SECRET, &body).as_bytes()]);
    assert_eq!(app.post_with("/webhooks/unknown", signed(), body.clone()).await.status(), 404);
    assert_eq!(app.post_with("/", signed(), body.clone()).await.status(), 404);
    assert_eq!(app.post_with("/webhooks/loja/", signed(), body.clone()).await.status(), 200, "no redirect");
    let url = format!("{}/webhooks/loja", app.url);
    assert_eq!(app.client.head(&url).send().await.unwrap().status(), 200);
    let refused = app.client.get(&url).send().await.unwrap();
    assert_eq!(refused.status(), 405);
    assert_eq!(refused.headers()["allow"], "POST, HEAD");
    assert_eq!(app.client.put(&url).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn identical_signature_lines_count_as_one_and_blanks_do_not_matter() {
    let app = App::start().await;
    let body = Event::new("ped_1", "paid", 2).body();
    let right = sign(SECRET, &body);
    let twice = headers(&[right.as_bytes(), right.as_bytes()]);
    assert_eq!(app.post_with("/webhooks/loja", twice, body.clone()).await.status(), 200);
    let padded = headers(&[format!("sha256= {right}").as_bytes()]);
    assert_eq!(app.post_with("/webhooks/loja", padded, body).await.status(), 200);
}
