//! Thin events end to end: the applier asks, the reconciler reads the provider, and the answer decides.
//!
//! Applier and reconciler work in this process over a real PostgreSQL, with the profile that ships for a provider whose
//! webhooks only say which order changed; the clock is set by hand.

use std::{
    collections::VecDeque,
    fs,
    sync::{Arc, Mutex},
};

use applier::Worker;
use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
};
use domain::{Clock, SettableClock};
use jiff::{SignedDuration, Timestamp};
use reconciler::{Parts, SourceReader};
use serde_json::{Value, json};
use service::{Context, Health, Shutdown, settings::Configured};
use tempfile::TempDir;
use testkit::{Database, arrive};

/// What the provider's API answers next, and what it was asked.
#[derive(Default)]
struct Api {
    script: VecDeque<(u16, String)>,
    asked: Vec<String>,
}

type Shared = Arc<Mutex<Api>>;

async fn answer(State(api): State<Shared>, request: Request) -> (StatusCode, String) {
    let mut api = api.lock().unwrap();
    let authorization =
        request.headers().get("authentication").map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(authorization.as_deref(), Some("bearer s3cr3t"));
    api.asked.push(request.uri().path().to_owned());
    // The last answer stays.
    let next = if api.script.len() > 1 { api.script.pop_front() } else { api.script.front().cloned() };
    let (status, body) = next.unwrap_or((404, String::new()));
    (StatusCode::from_u16(status).unwrap(), body)
}

struct World {
    database: Database,
    pool: db::Pool,
    clock: Arc<SettableClock>,
    configured: Arc<Configured>,
    api: Shared,
    _config: TempDir,
}

impl World {
    async fn new(api_url: bool) -> Self {
        let api = Shared::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(answer).with_state(api.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let config = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(config.path().join(name), text).unwrap();
        let dir = config.path().display();
        if api_url {
            file("url", &format!("http://127.0.0.1:{port}/v1/100001"));
        }
        file("token", "s3cr3t");
        file(
            "test.toml",
            &format!(
                "[reconciler]\nallow_addresses = [\"127.0.0.0/8\"]\n[sources.shop]\nprofile = \"nuvemshop\"\n\
                 secrets = []\napi_url = \"file:{dir}/url\"\napi_token = \"file:{dir}/token\"\n\
                 constants = {{ contact = \"ops@example.com\" }}\n"
            ),
        );
        let database = Database::create().await;
        let configured = Arc::new(Configured::load(config.path()).unwrap());
        let clock = Arc::new(SettableClock::new("2026-01-02T03:10:00Z".parse().unwrap()));
        Self { pool: database.pool(), database, clock, configured, api, _config: config }
    }

    fn reader(&self) -> Result<SourceReader, reconciler::OpenError> {
        let parts = Parts {
            configured: self.configured.clone(),
            pool: self.pool.clone(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
        };
        SourceReader::open_for_lookups("shop", parts)
    }

    fn worker(&self) -> Worker {
        Worker::new(&Context {
            configured: self.configured.clone(),
            pool: self.pool.clone(),
            database: self.database.options(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
            health: Health::new(),
        })
    }

    fn script(&self, answers: &[(u16, Value)]) {
        let answers = answers.iter().map(|(status, body)| (*status, body.to_string()));
        self.api.lock().unwrap().script = answers.collect();
    }

    fn asked(&self) -> usize {
        self.api.lock().unwrap().asked.len()
    }

    fn pass(&self, seconds: i64) {
        self.clock.advance_seconds(seconds);
    }

    async fn arrive(&self, type_: &str, id: u64) {
        let body = json!({"store_id": 100_001, "event": type_, "id": id}).to_string().into_bytes();
        let client = self.pool.get().await.unwrap();
        let profile = &self.configured.profiles["shop"];
        self.pass(1);
        arrive(&client, profile, "shop", self.clock.now(), &[body]).await;
    }

    /// Applies what is due, with a worker of its own: a worker looks for retries only now and then.
    async fn apply(&self) {
        while self.worker().pass().await.unwrap().events > 0 {}
    }

    /// The look-ups that are due are read once.
    async fn serve(&self) -> usize {
        self.reader().unwrap().serve_once().await.unwrap().lookups
    }

    async fn strings(&self, sql: &str) -> Vec<String> {
        let rows = self.pool.get().await.unwrap().query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn outcomes(&self) -> Vec<String> {
        self.strings("select coalesce(outcome, 'waits') from ordem.events order by event_id").await
    }

    async fn effects(&self) -> Vec<String> {
        self.strings("select resource_id || ':' || effect from ordem.effects order by effect_id").await
    }

    async fn order(&self) -> String {
        let sql = "select id || ' ' || status || ' ' || total_minor || ' ' || currency from ordem.orders";
        self.strings(sql).await.join(", ")
    }

    /// Nothing of any look-up or answer is left.
    async fn is_clean(&self) -> bool {
        let sql = "select (select count(*) from ordem_engine.lookups) + (select count(*) from ordem_engine.lookup_events)
                        + (select count(*) from ordem_engine.inbox_answers)";
        let row = self.pool.get().await.unwrap().query_one(sql, &[]).await.unwrap();
        row.get::<_, i64>(0) == 0
    }
}

fn order(payment: &str, updated_at: &str) -> Value {
    json!({"id": 871_400, "payment_status": payment, "status": "open", "total": "129.90", "currency": "BRL",
           "contact_email": "a@example.com", "updated_at": updated_at})
}

fn paid() -> Value {
    order("paid", "2026-01-02T03:04:05+0000")
}

#[tokio::test]
async fn a_thin_event_waits_for_the_provider_and_is_applied_once() {
    let world = World::new(true).await;
    world.script(&[(200, paid())]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["fetching"]);
    assert_eq!(world.order().await, "");
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied"]);
    assert_eq!(world.order().await, "871400 paid 12990 BRL");
    assert_eq!(world.effects().await, ["871400:release_picking"]);
    assert_eq!(world.api.lock().unwrap().asked, ["/v1/100001/orders/871400"]);
    assert!(world.is_clean().await);
}

/// The store's replica lags: nothing there, then the state before, then the one that the event told of.
#[tokio::test]
async fn an_answer_older_than_the_event_is_asked_for_again() {
    let world = World::new(true).await;
    world.script(&[(404, json!({})), (200, order("pending", "2026-01-02T03:04:00+0000")), (200, paid())]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    for _ in 0..3 {
        assert_eq!(world.outcomes().await, ["fetching"]);
        assert_eq!(world.serve().await, 1);
        assert_eq!(world.serve().await, 0, "not before the wait is over");
        world.pass(30);
    }
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied"]);
    assert_eq!(world.order().await, "871400 paid 12990 BRL");
    assert_eq!(world.effects().await, ["871400:release_picking"]);
    assert_eq!(world.asked(), 3);
}

#[tokio::test]
async fn what_stays_behind_is_taken_as_it_is_once_it_had_time_to_settle() {
    let world = World::new(true).await;
    world.script(&[(200, order("pending", "2026-01-02T03:04:00+0000"))]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    let mut reads = 0;
    while world.outcomes().await == ["fetching"] {
        reads += world.serve().await;
        world.pass(31);
        world.apply().await;
        assert!(reads < 20);
    }
    assert_eq!(world.order().await, "871400 created 12990 BRL");
    assert_eq!(world.outcomes().await, ["applied"]);
    assert!(reads >= 4, "{reads}");
}

#[tokio::test]
async fn a_thing_that_stays_missing_is_ignored_with_the_address_that_was_asked() {
    let world = World::new(true).await;
    world.script(&[(404, json!({}))]);
    world.arrive("order/updated", 123_456).await;
    world.apply().await;
    for _ in 0..8 {
        world.serve().await;
        world.pass(31);
    }
    world.apply().await;
    assert_eq!(world.outcomes().await, ["ignored"]);
    let why = world.strings("select last_error from ordem.events").await.join("");
    assert_eq!(why, "/orders/123456 was answered with status 404: there is no such thing");
    assert!(world.is_clean().await);
}

#[tokio::test]
async fn a_hundred_events_of_one_order_make_one_read() {
    let world = World::new(true).await;
    world.script(&[(200, paid())]);
    for _ in 0..100 {
        world.arrive("order/updated", 871_400).await;
    }
    world.apply().await;
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    let outcomes = world.outcomes().await;
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "applied").count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "stale").count(), 99);
    assert_eq!(world.asked(), 1);
    assert_eq!(world.effects().await, ["871400:release_picking"]);
}

#[tokio::test]
async fn failures_of_the_api_keep_the_event_waiting_and_say_why() {
    let world = World::new(true).await;
    let answers =
        [(500, json!({})), (401, json!({})), (429, json!({})), (200, json!({"id": 1})), (200, paid())];
    world.script(&answers[..3]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    for told in ["status 500", "refuses the token", "429"] {
        world.serve().await;
        let why = world.strings("select last_error from ordem.events").await.join("");
        assert!(why.contains(told), "{told}: {why}");
        assert_eq!(world.outcomes().await, ["fetching"]);
        world.pass(120);
    }
    world.script(&[(200, paid())]);
    world.serve().await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["applied"]);
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_sets_the_event_aside() {
    let world = World::new(true).await;
    world.script(&[(200, json!([1, 2]))]);
    world.arrive("order/updated", 871_400).await;
    world.apply().await;
    world.serve().await;
    world.apply().await;
    assert_eq!(world.outcomes().await, ["malformed"]);
    let why = world.strings("select last_error from ordem.events").await.join("");
    assert!(why.contains("the provider's answer"), "{why}");
    assert!(world.is_clean().await);
}

#[tokio::test]
async fn a_reader_that_died_is_followed_once_its_lease_is_over() {
    let world = World::new(true).await;
    world.script(&[(200, paid())]);
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    let now: Timestamp = world.clock.now();
    let client = world.pool.get().await.unwrap();
    let claimed =
        db::lookups::claim(&client, "shop", now, now + SignedDuration::from_secs(60), 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    // An event that comes meanwhile is not served by the read that began before it.
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    assert_eq!(world.outcomes().await, ["fetching", "applied"]);
    world.pass(61);
    assert_eq!(world.serve().await, 1);
    world.apply().await;
    assert_eq!(world.outcomes().await, ["stale", "applied"]);
    assert_eq!(world.effects().await, ["871400:release_picking"]);
    assert!(world.is_clean().await);
}

#[tokio::test]
async fn without_an_api_the_events_wait() {
    let world = World::new(false).await;
    world.arrive("order/paid", 871_400).await;
    world.apply().await;
    assert!(matches!(world.reader(), Err(reconciler::OpenError::Off(_))));
    assert_eq!(world.outcomes().await, ["fetching"]);
}
