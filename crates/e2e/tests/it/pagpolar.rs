//! Source `pagpolar`, as the gateway's own document on repetition asks for it, step by step, on real processes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Json, Router, extract::Request, http::StatusCode, response::IntoResponse};
use serde_json::{Value, json};
use testkit::{Daemon, Database, eventually, free_port};

const TOKEN: &str = "pp_token_1";

/// The gateway's API: one request for a refund, whatever is asked how often.
async fn gateway(refund_reads: Arc<AtomicUsize>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = move |request: Request| {
        let reads = refund_reads.clone();
        async move {
            match request.uri().path() {
                "/refunds" => {
                    assert_eq!(request.uri().query(), Some("transaction_id=tx_1"));
                    reads.fetch_add(1, Ordering::SeqCst);
                    let refund = json!({"id": "rf_1", "transaction_id": "tx_1", "status": "requested"});
                    Json(json!({"data": [refund]})).into_response()
                }
                "/subscriptions/sub_1" => {
                    let at = "2026-03-01T00:00:00Z";
                    Json(json!({"id": "sub_1", "status": "delayed", "next_billing_at": at})).into_response()
                }
                _ => StatusCode::NOT_FOUND.into_response(),
            }
        }
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    url
}

struct System {
    database: Database,
    target: String,
    environment: Vec<(&'static str, String)>,
    daemons: Vec<Daemon>,
    attempts: AtomicUsize,
}

impl System {
    async fn start(api: String) -> Self {
        let database = Database::create().await;
        let port = free_port();
        let environment = vec![
            ("PAGPOLAR_WEBHOOK_TOKEN", TOKEN.to_owned()),
            ("PAGPOLAR_API_URL", api),
            ("PAGPOLAR_API_TOKEN", "api".to_owned()),
            ("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{port}")),
        ];
        let target = format!("http://127.0.0.1:{port}/webhooks/pagpolar");
        let mut system =
            Self { database, target, environment, daemons: Vec::new(), attempts: AtomicUsize::new(0) };
        system.add("receiver").await;
        system
    }

    async fn add(&mut self, name: &str) {
        let mut daemon = Daemon::start(name, &self.database.url(), &self.environment);
        daemon.ready().await;
        self.daemons.push(daemon);
    }

    /// One delivery: its envelope is new with every attempt.
    async fn deliver(&self, event: &str, data: &Value) -> u16 {
        self.deliver_as(event, data, &format!("Bearer {TOKEN}"), &[]).await
    }

    async fn deliver_as(&self, event: &str, data: &Value, token: &str, headers: &[(&str, &str)]) -> u16 {
        let attempt = self.attempts.fetch_add(1, Ordering::SeqCst);
        let envelope = json!({
            "id": format!("env_{attempt}"),
            "event": event,
            "creation_date": format!("2026-01-02T03:04:{:02}Z", attempt % 60),
            "data": data,
        });
        let mut request = reqwest::Client::new().post(&self.target).header("authorization", token);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.json(&envelope).send().await.unwrap().status().as_u16()
    }

    async fn strings(&self, sql: &str) -> Vec<String> {
        let rows = self.database.client().await.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn row(&self, kind: &str, id: &str) -> String {
        let sql = format!("select status from ordem.resources where kind = '{kind}' and id = '{id}'");
        self.strings(&sql).await.join(",")
    }

    async fn outcomes(&self, event: &str) -> Vec<String> {
        let sql = format!(
            "select coalesce(outcome, 'waits') from ordem.events where event_type = '{event}' order by event_id"
        );
        self.strings(&sql).await
    }
}

fn sale() -> Value {
    json!({"transaction": {"id": "tx_1", "status": "any"}})
}

fn subscription(next_billing_at: &str) -> Value {
    json!({"subscription": {"id": "sub_1", "next_billing_at": next_billing_at}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_step_by_step() {
    let refund_reads = Arc::new(AtomicUsize::new(0));
    let mut system = System::start(gateway(refund_reads.clone()).await).await;

    // 1. The header Authorization is checked; 2. the event is stored; 3. the answer is 200, before anything is applied.
    assert_eq!(system.deliver_as("TRANSACTION_PAID", &sale(), "Bearer wrong", &[]).await, 401);
    assert_eq!(system.deliver_as("TRANSACTION_PAID", &sale(), TOKEN, &[]).await, 401);
    assert_eq!(system.deliver("TRANSACTION_PAID", &sale()).await, 200);

    // Its key is stored and nobody has processed it: the failure that makes the document's example delete the key. The
    // repetition is no new event, and nothing is lost: the event is applied once there is an applier.
    assert_eq!(system.deliver("TRANSACTION_PAID", &sale()).await, 200);
    assert_eq!(system.outcomes("TRANSACTION_PAID").await, ["waits"]);
    system.add("applier").await;
    eventually("the sale is paid", "paid".to_owned(), || system.row("sale", "tx_1")).await;
    assert_eq!(system.outcomes("TRANSACTION_PAID").await, ["applied"]);

    // Another id and date in the envelope, the same event: both were new with each delivery above and below.
    assert_eq!(system.deliver("TRANSACTION_PAID", &sale()).await, 200);
    assert_eq!(system.outcomes("TRANSACTION_PAID").await.len(), 1);

    // A late TRANSACTION_CREATED never takes a paid sale back.
    assert_eq!(system.deliver("TRANSACTION_CREATED", &sale()).await, 200);
    let stale = vec!["stale".to_owned()];
    eventually("the late creation is old", stale, || system.outcomes("TRANSACTION_CREATED")).await;
    assert_eq!(system.row("sale", "tx_1").await, "paid");

    // Test events never take effect, by either mark.
    let test = json!({"transaction": {"id": "tx_test"}});
    let marked = [("X-PagPolar-Test", "true")];
    let token = format!("Bearer {TOKEN}");
    assert_eq!(system.deliver_as("TRANSACTION_PAID", &test, &token, &marked).await, 200);
    let body = json!({"id": "e", "test": true, "event": "TRANSACTION_CREATED", "data": {"transaction": {"id": "tx_test"}}});
    let sent = reqwest::Client::new().post(&system.target).header("authorization", &token).json(&body).send();
    assert_eq!(sent.await.unwrap().status(), 200);
    let tests = "select count(*)::text from ordem.events where outcome = 'test'";
    eventually("both tests are seen", vec!["2".to_owned()], || system.strings(tests)).await;
    assert_eq!(system.row("sale", "tx_test").await, "");

    // A renewal comes once a cycle with the same subscription: `next_billing_at` is part of its key.
    for cycle in ["2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"] {
        assert_eq!(system.deliver("SUBSCRIPTION_RENEWED", &subscription(cycle)).await, 200);
    }
    eventually("two cycles", 2, || async { system.outcomes("SUBSCRIPTION_RENEWED").await.len() }).await;
    eventually("the subscription is active", "active".to_owned(), || system.row("subscription", "sub_1"))
        .await;

    // A request for a refund has no key: every delivery is new, and GET /refunds decides which requests there are.
    for _ in 0..3 {
        assert_eq!(system.deliver("TRANSACTION_ASK_REFUNDING", &sale()).await, 200);
    }
    let waiting = vec!["fetching".to_owned(); 3];
    eventually("they wait for the gateway", waiting, || system.outcomes("TRANSACTION_ASK_REFUNDING")).await;
    assert_eq!(system.row("refund_request", "rf_1").await, "");

    // The daily reminder counts once, and in doubt the gateway is asked: no clock tells an old delay from a new one.
    for _ in 0..2 {
        assert_eq!(system.deliver("SUBSCRIPTION_DELAYED", &subscription("2026-03-01T00:00:00Z")).await, 200);
    }
    system.add("reconciler").await;
    eventually("one request", "requested".to_owned(), || system.row("refund_request", "rf_1")).await;
    let ended = || async {
        let mut outcomes = system.outcomes("TRANSACTION_ASK_REFUNDING").await;
        outcomes.sort();
        outcomes
    };
    let one = ["applied", "stale", "stale"].map(str::to_owned).to_vec();
    eventually("one of three is new", one, ended).await;
    assert!(refund_reads.load(Ordering::SeqCst) <= 3);
    eventually("the subscription is late", "past_due".to_owned(), || system.row("subscription", "sub_1"))
        .await;
    assert_eq!(system.outcomes("SUBSCRIPTION_DELAYED").await, ["applied"]);
    assert_eq!(system.row("sale", "tx_1").await, "paid");
}
