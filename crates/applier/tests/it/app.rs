//! An applier in this process, with a database of its own and a clock that is set by hand.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use applier::Worker;
use domain::{Clock, SettableClock};
use jiff::Timestamp;
use service::{Context, Health, Shutdown, settings::Configured};
use testkit::{Database, Event, arrive};
use tokio_postgres::Client;

/// The instant at which tests begin.
pub(crate) fn noon() -> Timestamp {
    "2026-01-02T12:00:00Z".parse().unwrap()
}

pub(crate) struct App {
    pub(crate) database: Database,
    pub(crate) client: Client,
    pub(crate) clock: Arc<SettableClock>,
    configured: Arc<Configured>,
    pool: db::Pool,
}

impl App {
    pub(crate) async fn new() -> Self {
        Self::configured_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config")).await
    }

    /// With another profile of `loja`.
    pub(crate) async fn with_profile(profile: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        fs::create_dir(&config).unwrap();
        fs::create_dir(dir.path().join("profiles")).unwrap();
        fs::write(dir.path().join("profiles/loja.toml"), profile).unwrap();
        Self::configured_in(&config).await
    }

    /// With settings of its own besides those shipped.
    pub(crate) async fn with_settings(settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("test.toml"), settings).unwrap();
        Self::configured_in(dir.path()).await
    }

    async fn configured_in(config: &Path) -> Self {
        let database = Database::create().await;
        let configured = Configured::load(config).unwrap();
        Self {
            client: database.client().await,
            clock: Arc::new(SettableClock::new(noon())),
            configured: Arc::new(configured),
            pool: database.pool(),
            database,
        }
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            configured: self.configured.clone(),
            pool: self.pool.clone(),
            database: self.database.options(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
            health: Health::new(),
        }
    }

    /// Puts bodies into the inbox as the receiver would, in this order.
    pub(crate) async fn arrive_raw(&self, source: &str, bodies: &[Vec<u8>]) {
        let client = self.pool.get().await.unwrap();
        arrive(&client, &self.configured.profiles["loja"], source, self.clock.now(), bodies).await;
    }

    /// Puts events of `loja` into the inbox.
    pub(crate) async fn arrive(&self, events: &[Event]) {
        let bodies: Vec<Vec<u8>> = events.iter().map(Event::body).collect();
        self.arrive_raw("loja", &bodies).await;
    }

    /// Applies until nothing is left that is due.
    pub(crate) async fn apply(&self) {
        let mut worker = Worker::new(&self.context());
        for _ in 0..1000 {
            if worker.pass().await.unwrap().events == 0 {
                return;
            }
        }
        panic!("there is always more to apply");
    }

    /// The outcomes in order of arrival; `pending` where there is none.
    pub(crate) async fn outcomes(&self) -> Vec<String> {
        self.texts("select coalesce(outcome, 'pending') from ordem.events order by event_id").await
    }

    /// Status, total and e-mail of an order.
    pub(crate) async fn order(&self, id: &str) -> (String, Option<i64>, Option<String>) {
        let row = self
            .client
            .query_one("select status, total_minor, customer_email from ordem.orders where id = $1", &[&id])
            .await
            .unwrap();
        (row.get(0), row.get(1), row.get(2))
    }

    /// The effects of each order, in their order.
    pub(crate) async fn effects(&self) -> BTreeMap<String, Vec<String>> {
        let sql = "select resource_id, effect from ordem_engine.effects order by resource_id, sequence";
        let mut effects: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in self.client.query(sql, &[]).await.unwrap() {
            effects.entry(row.get(0)).or_default().push(row.get(1));
        }
        effects
    }

    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        self.client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn count(&self, sql: &str) -> i64 {
        self.client.query_one(sql, &[]).await.unwrap().get(0)
    }
}
