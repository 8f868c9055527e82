//! Applier and reconciler of one source in this process, over a real PostgreSQL, with a provider that answers as the test
//! says and a clock that is set by hand.

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
use reconciler::{Parts, SourceReader};
use serde_json::{Value, json};
use service::{Context, Health, Shutdown, settings::Configured};
use tempfile::TempDir;
use testkit::{Database, arrive};

/// What the provider's API answers next, and what it was asked.
#[derive(Default)]
pub(crate) struct Api {
    pub(crate) script: VecDeque<(u16, String)>,
    pub(crate) asked: Vec<String>,
}

pub(crate) type Shared = Arc<Mutex<Api>>;

async fn answer(State(api): State<Shared>, request: Request) -> (StatusCode, String) {
    let mut api = api.lock().unwrap();
    let authorization =
        request.headers().get("authentication").map(|value| value.to_str().unwrap().to_owned());
    let bearer = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(authorization.or(bearer).as_deref().map(str::to_lowercase).as_deref(), Some("bearer s3cr3t"));
    api.asked.push(request.uri().path().to_owned());
    // The last answer stays.
    let next = if api.script.len() > 1 { api.script.pop_front() } else { api.script.front().cloned() };
    let (status, body) = next.unwrap_or((404, String::new()));
    (StatusCode::from_u16(status).unwrap(), body)
}

pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) pool: db::Pool,
    pub(crate) clock: Arc<SettableClock>,
    pub(crate) configured: Arc<Configured>,
    pub(crate) api: Shared,
    _config: TempDir,
}

impl World {
    /// A source with the profile `nuvemshop`.
    pub(crate) async fn new(api_url: bool) -> Self {
        Self::with(api_url, "nuvemshop", None).await
    }

    /// A source with a profile, of this text where it does not ship.
    pub(crate) async fn with(api_url: bool, profile: &str, text: Option<&str>) -> Self {
        let api = Shared::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(answer).with_state(api.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let config = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(config.path().join(name), text).unwrap();
        let dir = config.path().display();
        if let Some(text) = text {
            fs::create_dir(config.path().join("profiles")).unwrap();
            file(&format!("profiles/{profile}.toml"), text);
        }
        if api_url {
            file("url", &format!("http://127.0.0.1:{port}/v1/100001"));
        }
        file("token", "s3cr3t");
        file(
            "test.toml",
            &format!(
                "[reconciler]\nallow_addresses = [\"127.0.0.0/8\"]\n[service]\nprofiles_dir = \"profiles\"\n\
                 [sources.shop]\nprofile = \"{profile}\"\n\
                 secrets = []\napi_url = \"file:{dir}/url\"\napi_token = \"file:{dir}/token\"\n\
                 constants = {{ contact = \"ops@example.com\" }}\n"
            ),
        );
        let database = Database::create().await;
        let configured = Arc::new(Configured::load(config.path()).unwrap());
        let clock = Arc::new(SettableClock::new("2026-01-02T03:10:00Z".parse().unwrap()));
        Self { pool: database.pool(), database, clock, configured, api, _config: config }
    }

    pub(crate) fn reader(&self) -> Result<SourceReader, reconciler::OpenError> {
        let parts = Parts {
            configured: self.configured.clone(),
            pool: self.pool.clone(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
        };
        SourceReader::open_for_lookups("shop", parts)
    }

    pub(crate) fn worker(&self) -> Worker {
        Worker::new(&Context {
            configured: self.configured.clone(),
            pool: self.pool.clone(),
            database: self.database.options(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
            health: Health::new(),
        })
    }

    pub(crate) fn script(&self, answers: &[(u16, Value)]) {
        let answers = answers.iter().map(|(status, body)| (*status, body.to_string()));
        self.api.lock().unwrap().script = answers.collect();
    }

    pub(crate) fn asked(&self) -> usize {
        self.api.lock().unwrap().asked.len()
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance_seconds(seconds);
    }

    pub(crate) async fn arrive(&self, type_: &str, id: u64) {
        self.send(&json!({"store_id": 100_001, "event": type_, "id": id})).await;
    }

    /// A webhook arrives.
    pub(crate) async fn send(&self, body: &Value) {
        let body = body.to_string().into_bytes();
        let client = self.pool.get().await.unwrap();
        let profile = &self.configured.profiles["shop"];
        self.pass(1);
        arrive(&client, profile, "shop", self.clock.now(), &[body]).await;
    }

    /// Applies what is due, with a worker of its own: a worker looks for retries only now and then.
    pub(crate) async fn apply(&self) {
        while self.worker().pass().await.unwrap().events > 0 {}
    }

    /// The look-ups that are due are read once.
    pub(crate) async fn serve(&self) -> usize {
        self.reader().unwrap().serve_once().await.unwrap().lookups
    }

    pub(crate) async fn strings(&self, sql: &str) -> Vec<String> {
        let rows = self.pool.get().await.unwrap().query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn outcomes(&self) -> Vec<String> {
        self.strings("select coalesce(outcome, 'waits') from ordem.events order by event_id").await
    }

    pub(crate) async fn effects(&self) -> Vec<String> {
        self.strings("select resource_id || ':' || effect from ordem.effects order by effect_id").await
    }

    pub(crate) async fn order(&self) -> String {
        let sql = "select id || ' ' || status || ' ' || total_minor || ' ' || currency from ordem.orders";
        self.strings(sql).await.join(", ")
    }

    /// Nothing of any look-up or answer is left.
    pub(crate) async fn is_clean(&self) -> bool {
        let sql = "select (select count(*) from ordem_engine.lookups) + (select count(*) from ordem_engine.lookup_events)
                        + (select count(*) from ordem_engine.inbox_answers)";
        let row = self.pool.get().await.unwrap().query_one(sql, &[]).await.unwrap();
        row.get::<_, i64>(0) == 0
    }
}
