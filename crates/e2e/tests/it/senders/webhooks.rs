//! Stripe's, GitHub's and Standard Webhooks' libraries sign for a running receiver.

use domain::Clock;
use serde_json::{Value, json};
use service::SystemClock;
use testkit::eventually;

use super::{
    bodies::{BIG, Body, alterations, bodies},
    libraries::{self, Libraries},
};
use crate::system::System;

const SETTINGS: &str = r#"
[sources.github]
profile = "github"
secrets = ["env:GITHUB_SECRET"]

[sources.standard_webhooks]
profile = "standard_webhooks"
secrets = ["env:STANDARD_SECRET"]
"#;

/// What one library signs for one source.
struct Sender {
    library: &'static str,
    source: &'static str,
    secret: &'static str,
    template: &'static str,
    header: Option<(&'static str, &'static str)>,
    /// Whether the signature has a time.
    is_timed: bool,
    /// `kind` of the row, and where its text and its number are.
    kind: &'static str,
    fields: [&'static str; 2],
}

const SENDERS: [Sender; 3] = [
    Sender {
        library: "stripe",
        source: "stripe",
        secret: "whsec_Yx0pK/não-é-base64=",
        template: r#"{"id": "evt_@ID", "object": "event", "created": @NOW, "livemode": true, "type": "charge.succeeded", @UNREAD, "data": {"object": {"id": "ch_1", "payment_intent": "@ID", "amount": @BIG, "captured": true, "currency": "brl", "receipt_email": @TEXT, "metadata": {}}}}"#,
        header: None,
        is_timed: true,
        kind: "payment",
        fields: ["customer_email", "total_minor"],
    },
    Sender {
        library: "octokit",
        source: "github",
        secret: "It's a Secret to Everybody",
        template: r#"{"action": "opened", @UNREAD, "issue": {"html_url": "@ID", "number": @BIG, "title": @TEXT, "state": "open", "updated_at": "2026-01-02T03:04:05Z", "user": {"login": "a"}}, "repository": {"full_name": "a\/b"}}"#,
        header: Some(("x-github-event", "issues")),
        is_timed: false,
        kind: "issue",
        fields: ["title", "number"],
    },
    Sender {
        library: "standardwebhooks",
        source: "standard_webhooks",
        secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        template: r#"{"type": "order.paid", "timestamp": "2026-01-02T03:04:05.678Z", @UNREAD, "data": {"id": "@ID", "total_minor": @BIG, "currency": "BRL", "customer_email": @TEXT}}"#,
        header: None,
        is_timed: true,
        kind: "order",
        fields: ["customer_email", "total_minor"],
    },
];

impl Sender {
    fn bodies(&self, now: i64, prefix: &str) -> Vec<Body> {
        bodies(&self.template.replace("@NOW", &now.to_string()), prefix)
    }

    fn ask(&self, what: &str, body: &str, seconds: i64, id: &str) -> Value {
        json!({"library": self.library, "do": what, "secret": self.secret, "body": body, "seconds": seconds, "id": id})
    }

    /// The answer of the receiver to this body with these headers.
    async fn send(&self, system: &System, headers: &Value, body: &str) -> u16 {
        let mut request = reqwest::Client::new().post(system.target(self.source));
        request = request.header("content-type", "application/json");
        for (name, value) in headers.as_object().unwrap() {
            request = request.header(name, value.as_str().unwrap());
        }
        if let Some((name, value)) = self.header {
            request = request.header(name, value);
        }
        request.body(body.to_owned()).send().await.unwrap().status().as_u16()
    }

    async fn rows(&self, system: &System, prefix: &str) -> Vec<[Option<String>; 3]> {
        let [text, number] = self.fields;
        let sql = format!(
            "select id, fields->>'{text}', fields->>'{number}' from ordem.resources where source = '{}' and kind = '{}' and id like '{prefix}\\_%' order by id",
            self.source, self.kind
        );
        let rows = system.database.client().await.query(&sql, &[]).await.unwrap();
        rows.iter().map(|row| [row.get(0), row.get(1), row.get(2)]).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_libraries_sign_is_taken_and_what_differs_by_a_byte_is_not() {
    let all = libraries::all();
    if all.is_empty() {
        return;
    }
    let secrets = [
        ("STRIPE_WEBHOOK_SECRET", "whsec_the_next"),
        ("STRIPE_WEBHOOK_SECRET_PREVIOUS", SENDERS[0].secret),
        ("GITHUB_SECRET", SENDERS[1].secret),
        ("STANDARD_SECRET", SENDERS[2].secret),
    ];
    let mut system = System::new(SETTINGS, &secrets).await;
    system.add("receiver").await;
    system.add("applier").await;
    for libraries in &all {
        for sender in
            SENDERS.iter().filter(|sender| libraries.language() == "node" || sender.library != "octokit")
        {
            signed(&system, sender, libraries).await;
            refused(&system, sender, libraries).await;
        }
    }
}

/// Each body is taken, its alterations are not, and the row says what the body says.
async fn signed(system: &System, sender: &Sender, libraries: &Libraries) {
    let now = SystemClock.now().as_second();
    let bodies = sender.bodies(now, libraries.language());
    let asks: Vec<Value> =
        bodies.iter().map(|body| sender.ask("sign", &body.json, now, &format!("msg_{}", body.id))).collect();
    let mut checks = Vec::new();
    for (body, headers) in bodies.iter().zip(libraries.ask(&asks)) {
        for (what, other) in alterations(&body.json) {
            let answer = sender.send(system, &headers, &other).await;
            assert_eq!(answer, 401, "{} {}: {what}: {other}", sender.library, body.id);
            let mut check = sender.ask("verify", &other, now, "");
            check["headers"] = headers.clone();
            checks.push(check);
        }
        let answer = sender.send(system, &headers, &body.json).await;
        assert_eq!(answer, 200, "{} {}: {}\n{}", sender.library, body.id, body.json, system.logs());
    }
    assert!(checks.len() >= 3 * bodies.len(), "there is something to alter");
    assert!(libraries.ask(&checks).iter().all(|taken| *taken == false), "the libraries judge alike");
    let expected: Vec<_> = bodies
        .iter()
        .map(|body| [Some(body.id.clone()), Some(body.text.to_owned()), Some(BIG.to_string())])
        .collect();
    eventually(sender.library, expected, || sender.rows(system, libraries.language())).await;
}

/// Another secret, and a time that is too old or too new.
async fn refused(system: &System, sender: &Sender, libraries: &Libraries) {
    let now = SystemClock.now().as_second();
    let body = &sender.bodies(now, "refused")[0].json;
    let mut wrong = sender.ask("sign", body, now, "msg");
    // Of the same form, or the library would not sign.
    wrong["secret"] = json!(sender.secret.replace(['Y', 'I', 'M'], "Z"));
    assert_ne!(wrong["secret"], sender.secret);
    let mut asks = vec![wrong];
    if sender.is_timed {
        asks.extend([-310, 310].map(|off| sender.ask("sign", body, now + off, "msg")));
    }
    for (ask, headers) in asks.iter().zip(libraries.ask(&asks)) {
        assert_eq!(sender.send(system, &headers, body).await, 401, "{ask}");
    }
}
