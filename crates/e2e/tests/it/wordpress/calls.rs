//! Single calls to the example, as Ordem would make them and as a stranger would.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use testkit::eventually;

use super::site::{SECRETS, Site, signature};

fn body(key: &str) -> String {
    json!({"type": "order.release_picking", "data": {"id": "ped_\u{2028}1", "key": key}}).to_string()
}

#[allow(clippy::disallowed_methods, reason = "tests live in real time")]
fn now() -> i64 {
    Timestamp::now().as_second()
}

fn key(secret: &str) -> Vec<u8> {
    secret.strip_prefix("whsec_").map_or_else(|| secret.into(), |encoded| STANDARD.decode(encoded).unwrap())
}

impl Site {
    fn call(&self, server: usize, id: &str, time: &str, signatures: &str, body: &str) -> RequestBuilder {
        let request = self.client.post(self.url(server)).header("content-type", "application/json");
        let request = request.header("webhook-id", id).header("webhook-timestamp", time);
        request.header("webhook-signature", signatures).body(body.to_owned())
    }

    /// A call that is signed as it should be.
    fn signed(&self, server: usize, id: &str, body: &str) -> RequestBuilder {
        let time = now();
        self.call(server, id, &time.to_string(), &signature(&key(SECRETS[0]), id, time, body), body)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_known_secret_signed_just_now_is_refused() {
    let Some(site) = Site::start().await else { return };
    let (body, time) = (body(""), now());
    let by = |secret: &str, time: i64| signature(&key(secret), "m1", time, &body);
    let right = by(SECRETS[0], time);
    let at = |time: i64| time.to_string();
    let refused = [
        ("m1", at(time), by("another", time), body.clone()),
        ("m1", at(time), signature(b"", "m1", time, &body), body.clone()),
        ("m1", at(time), String::new(), body.clone()),
        ("m1", at(time), right.replace("v1,", "v1a,"), body.clone()),
        ("m1", at(time), right.replace("v1,", "v1="), body.clone()),
        ("m1", at(time), right.clone(), body.replace("release", "Release")),
        ("m2", at(time), right.clone(), body.clone()),
        ("m1", at(time + 1), right.clone(), body.clone()),
        ("m1", at(time - 302), by(SECRETS[0], time - 302), body.clone()),
        ("m1", at(time + 310), by(SECRETS[0], time + 310), body.clone()),
        ("m1", format!("{time}.0"), right.clone(), body.clone()),
        ("", at(time), signature(&key(SECRETS[0]), "", time, &body), body.clone()),
        ("m'1", at(time), signature(&key(SECRETS[0]), "m'1", time, &body), body.clone()),
    ];
    for (id, time, signatures, body) in &refused {
        let (status, said) = site.ask(site.call(0, id, time, signatures, body)).await;
        assert_eq!(status, 401, "{id} {time} {signatures}: {said}");
    }
    let bare = site.client.post(site.url(0)).body(body.clone());
    assert_eq!(site.ask(bare).await.0, 401);
    assert_eq!(site.lines("done"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_signature_by_any_of_the_secrets_will_do_and_the_bytes_count() {
    let Some(site) = Site::start().await else { return };
    let (body, time) = (body(""), now());
    for (at, signatures) in [
        signature(&key(SECRETS[0]), "m0", time, &body),
        signature(&key(SECRETS[1]), "m1", time, &body),
        format!("v1,AAAA v1a,x {}", signature(&key(SECRETS[1]), "m2", time, &body)),
    ]
    .iter()
    .enumerate()
    {
        let answer = site.ask(site.call(0, &format!("m{at}"), &time.to_string(), signatures, &body)).await;
        assert_eq!(answer, (200, r#"{"done":true}"#.to_owned()), "{signatures}");
    }
    assert_eq!(site.lines("done").len(), 3);
    assert_eq!(site.lines("released"), ["ped_\u{2028}1"; 3]);
    for no_message in ["[]", "{", "{\"type\":1,\"data\":{}}", "{\"type\":\"x\",\"data\":2}"] {
        assert_eq!(site.ask(site.signed(0, "bad", no_message)).await.0, 400, "{no_message}");
    }
    assert_eq!(site.lines("done").len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_one_request_is_at_it_another_is_told_to_wait() {
    let Some(site) = Site::start().await else { return };
    let slow = body("slow");
    let first = tokio::spawn(site.signed(0, "m1", &slow).send());
    eventually("the first is at work", true, || async { site.path("at-work").exists() }).await;
    assert_eq!(site.ask(site.signed(1, "m1", &slow)).await.0, 409);
    std::fs::write(site.path("go-on"), "").unwrap();
    assert_eq!(first.await.unwrap().unwrap().status(), 200);
    assert_eq!(site.ask(site.signed(1, "m1", &slow)).await, (200, r#"{"repeated":true}"#.to_owned()));
    assert_eq!(site.lines("done").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_failed_or_was_left_lying_is_done_by_a_later_attempt() {
    let Some(site) = Site::start().await else { return };
    let fails = body("fails");
    assert_eq!(site.ask(site.signed(0, "m1", &fails)).await.0, 500);
    assert_eq!(site.ask(site.signed(0, "m1", &fails)).await.0, 200);
    let left = |seconds: i64| json!({ "m2": [now() - seconds, 0] }).to_string();
    std::fs::write(site.path("table.json"), left(200)).unwrap();
    assert_eq!(site.ask(site.signed(0, "m2", &body(""))).await.0, 409);
    std::fs::write(site.path("table.json"), left(301)).unwrap();
    assert_eq!(site.ask(site.signed(0, "m2", &body(""))).await.0, 200);
    assert_eq!(site.lines("done").len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_was_done_long_ago_is_forgotten() {
    let Some(site) = Site::start().await else { return };
    assert_eq!(site.ask(site.signed(0, "new", &body(""))).await.0, 200);
    let mut table = site.table();
    let long_ago = now() - 181 * 86_400;
    table["old"] = json!([long_ago, long_ago]);
    table["at_work"] = json!([long_ago, 0]);
    std::fs::write(site.path("table.json"), table.to_string()).unwrap();
    site.forget().await;
    let left: Vec<String> = site.table().as_object().unwrap().keys().cloned().collect();
    assert_eq!(left, ["at_work", "new"]);
    assert!(site.path("option-next-ordem-forget").exists(), "WordPress is asked to do that daily");
    assert_ne!(site.table()["new"][1], Value::from(0));
}
