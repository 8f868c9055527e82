//! What bad requests get.

use reqwest::header::{HeaderMap, HeaderValue};
use testkit::{Daemon, Event, SECRET, eventually, sign};

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
async fn verified_bodies_that_cannot_be_read_are_stored_as_they_came_answered_200_and_end_as_malformed() {
    let app = App::start().await;
    let deep = format!("{{\"id\":\"e\",\"data\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    // Each with a part of the reason that the operator reads.
    let bodies: [(&[u8], &str); 10] = [
        (b"", "is empty"),
        (b"   ", "is empty"),
        (b"null", "is null"),
        (b"\"text\"", "is a text"),
        (b"{\"id\":", "cannot be read: EOF"),
        (b"\xff\xfe\x00", "is not UTF-8 (byte 0)"),
        (b"{\"id\":\"evt_\xe9\"}", "is not UTF-8 (byte 11)"),
        ("{\"id\":\"evt_\u{e9}\"}".as_bytes(), "`type` is missing"),
        (b"{\"id\":\"a\\u0000b\",\"type\":\"order.paid\",\"data\":{\"id\":\"x\"}}", "`id` contains a NUL"),
        (deep.as_bytes(), "nested deeper than 128 levels"),
    ];
    for (body, _) in bodies {
        let text = String::from_utf8_lossy(&body[..body.len().min(30)]).into_owned();
        assert_eq!(app.post(body).await.status(), 200, "{text}");
        assert_eq!(app.post(body).await.status(), 200, "{text}: once more");
    }
    assert_eq!(app.events().await, 10, "each once");

    let mut applier = Daemon::start("applier", &app.database.url(), &[]);
    applier.ready().await;
    let malformed = "select count(*) from ordem.events where outcome = 'malformed'";
    eventually("all are set aside", 10, || app.database.count(malformed)).await;
    let rows = app
        .database
        .client()
        .await
        .query("select e.body, o.reason from ordem_engine.inbox_events e join ordem_engine.inbox_outcomes o using (event_id)", &[])
        .await
        .unwrap();
    for row in rows {
        let (body, reason): (Vec<u8>, &str) = (row.get(0), row.get(1));
        let (_, expected) =
            bodies.iter().find(|(posted, _)| *posted == body).expect("the bytes as they came");
        assert!(reason.contains(expected), "{reason} is not: {expected}");
    }
    assert_eq!(app.database.count("select count(*) from ordem.orders").await, 0);
    assert!(!applier.log().contains("panicked"), "{}", applier.log());
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
