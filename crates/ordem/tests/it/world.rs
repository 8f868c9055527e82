//! A database, the binary, and rows as the daemons would write them.

use std::{process::Output, sync::Arc};

use applier::Worker;
use assert_cmd::cargo::cargo_bin_cmd;
use db::Client;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use service::{Context, Health, Shutdown, SystemClock, settings::Configured};
use testkit::{Database, Event, SECRET, arrive};
use uuid::Uuid;

/// The folder with the shipped configuration.
pub(crate) const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config");

/// What the process said, and its exit code.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl Said {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
            code: output.status.code().unwrap(),
        }
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }

    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }
}

/// The binary with a clean environment.
pub(crate) fn ordem(environment: &[(&str, &str)], arguments: &[&str]) -> Said {
    let mut command = cargo_bin_cmd!("ordem");
    command.env_clear().args(["--config", CONFIG]).args(arguments);
    command.envs(environment.iter().copied());
    Said::of(&command.output().unwrap())
}

/// A database of its own, and all that is shipped switched on.
pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) pool: db::Pool,
    configured: Arc<Configured>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = Database::create().await;
        let pool = database.pool();
        let configured = Arc::new(Configured::load(std::path::Path::new(CONFIG)).unwrap());
        Self { database, pool, configured }
    }

    /// Runs the binary with everything on.
    pub(crate) fn ordem(&self, arguments: &[&str]) -> Said {
        self.ordem_with_secret(SECRET, arguments)
    }

    /// Runs the binary with this secret of the store.
    pub(crate) fn ordem_with_secret(&self, secret: &str, arguments: &[&str]) -> Said {
        let environment = [
            ("DATABASE_URL", self.database.url()),
            ("LOJA_WEBHOOK_SECRET", secret.to_owned()),
            ("FULFILLMENT_URL", "http://127.0.0.1:9/".to_owned()),
            ("FULFILLMENT_SECRET", "whsec_c2VncmVkby1kby1kZXNwYWNobw==".to_owned()),
        ];
        let environment: Vec<(&str, &str)> =
            environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        ordem(&environment, arguments)
    }

    /// The JSON of a subcommand that ends well.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.ordem(&[arguments, &["--json"]].concat()).expect(0).json()
    }

    pub(crate) async fn client(&self) -> Client {
        self.pool.get().await.unwrap()
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }

    pub(crate) async fn text(&self, sql: &str) -> String {
        self.client().await.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Stores bodies as the receiver would; returns their ids.
    pub(crate) async fn receive(&self, bodies: &[Vec<u8>]) -> Vec<Uuid> {
        arrive(&self.client().await, &self.configured.profiles["loja"], "loja", now(), bodies).await
    }

    /// Stores and applies events of the store, each in a transaction of its own.
    pub(crate) async fn apply(&self, events: &[Event]) -> Vec<Uuid> {
        let bodies: Vec<Vec<u8>> = events.iter().map(Event::body).collect();
        let mut ids = Vec::new();
        for body in bodies {
            ids.extend(self.receive(&[body]).await);
            self.apply_queued().await;
        }
        ids
    }

    async fn apply_queued(&self) {
        let mut worker = Worker::new(&Context {
            configured: self.configured.clone(),
            pool: self.pool.clone(),
            database: self.database.options(),
            clock: Arc::new(SystemClock),
            shutdown: Shutdown::new(),
            health: Health::new(),
        });
        while worker.pass().await.unwrap().events > 0 {}
    }

    /// Ends a queued event as dead.
    pub(crate) async fn kill(&self, event_id: Uuid) {
        self.run(&format!(
            "delete from ordem_engine.inbox_queue where event_id = '{event_id}';
             insert into ordem_engine.inbox_outcomes (event_id, outcome, reason, attempts, applied_at)
             values ('{event_id}', 'dead', 'it failed', 5, now())"
        ))
        .await;
    }

    /// Ends the only queued effect of this name in a state, with one call.
    pub(crate) async fn end_effect(&self, effect: &str, state: &str) -> Uuid {
        let client = self.client().await;
        let row = client
            .query_one(
                "select q.effect_id from ordem_engine.effect_queue q join ordem_engine.effects e using (effect_id) \
                 where e.effect = $1",
                &[&effect],
            )
            .await
            .unwrap();
        let id: Uuid = row.get(0);
        self.run(&format!(
            "delete from ordem_engine.effect_queue where effect_id = '{id}';
             insert into ordem_engine.effect_outcomes (effect_id, state, attempts, finished_at, last_error)
             values ('{id}', '{state}', 1, now(), case when '{state}' = 'dead' then 'answered 410' end);
             insert into ordem_engine.delivery_attempts
                 (effect_id, attempt, started_at, duration_ms, result, http_status)
             values ('{id}', 1, '2026-01-02T03:04:05Z', 12,
                     case when '{state}' = 'dead' then 'permanent' else '{state}' end,
                     case when '{state}' = 'dead' then 410 else 200 end)"
        ))
        .await;
        id
    }
}

#[allow(clippy::disallowed_methods, reason = "tests live in real time")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// That long before now.
pub(crate) fn ago(seconds: i64) -> Timestamp {
    now().checked_sub(SignedDuration::from_secs(seconds)).unwrap()
}
