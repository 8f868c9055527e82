//! A database, the binary, and rows as the daemons would write them.

use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use db::{
    Client,
    ids::new_id_in_order,
    inbox::{self, EventOutcome, EventVerdict, NewEvent, Origin},
    outbox::{self, EffectToWrite},
    resources,
};
use domain::{ResourceId, decide};
use jiff::{SignedDuration, Timestamp};
use profile::{Incoming, Reading, Stored};
use serde_json::Value;
use service::settings::Configured;
use testkit::{Database, Event, SECRET};
use uuid::Uuid;

/// The folder with the shipped configuration.
pub(crate) const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config");

/// What the process said, and its exit code.
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
    configured: Configured,
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = Database::create().await;
        let pool = database.pool();
        let configured = Configured::load(std::path::Path::new(CONFIG)).unwrap();
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
        let client = self.client().await;
        let profile = &self.configured.profiles["loja"];
        let headers: Vec<(String, String)> = Vec::new();
        let mut ids = Vec::new();
        for body in bodies {
            let envelope = profile.envelopes(&Incoming { body, headers: &headers }).remove(0);
            let event_id = new_id_in_order(now(), ids.len());
            let event = NewEvent {
                event_id,
                source: "loja",
                dedup_key: envelope.dedup_key.as_deref(),
                body_hash: 0,
                event_type: envelope.event_type.as_deref(),
                kind: envelope.kind,
                resource_id: envelope.resource_id.as_deref(),
                origin: Origin::Webhook,
                received_at: now(),
                headers: None,
                body: &envelope.body,
            };
            inbox::store(&client, &[event]).await.unwrap();
            ids.push(event_id);
        }
        ids
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
        let mut client = self.client().await;
        let transaction = client.transaction().await.unwrap();
        for event in inbox::claim(&transaction, Uuid::nil(), 100).await.unwrap() {
            let stored = Stored {
                source: &event.source,
                origin: profile::Origin::Webhook,
                body: &event.body,
                headers: &(),
                event_key: event.dedup_key.as_deref().unwrap(),
                received_at: event.received_at,
            };
            let flow = |kind: &str| self.configured.flow(kind);
            match self.configured.profiles["loja"].read(&stored, &flow) {
                Reading::Fact { resource, fact } => {
                    self.decide(&transaction, event.event_id, &resource, &fact).await
                }
                Reading::Ignored(reason) => {
                    self.end(&transaction, event.event_id, EventVerdict::Ignored, Some(reason), (None, None))
                        .await;
                }
                Reading::Test(reason) => {
                    self.end(&transaction, event.event_id, EventVerdict::Test, Some(reason), (None, None))
                        .await;
                }
                Reading::Malformed(reason) => {
                    self.end(
                        &transaction,
                        event.event_id,
                        EventVerdict::Malformed,
                        Some(reason),
                        (None, None),
                    )
                    .await;
                }
            }
        }
        transaction.commit().await.unwrap();
    }

    async fn decide(
        &self,
        client: &impl db::GenericClient,
        event_id: Uuid,
        id: &ResourceId,
        fact: &domain::Fact,
    ) {
        let rows = resources::load_locked(client, std::slice::from_ref(id)).await.unwrap();
        let decision = decide(rows.get(id), fact, self.configured.flow(&id.kind).unwrap());
        resources::save(client, now(), &[(id, &decision.resource)]).await.unwrap();
        let effects: Vec<EffectToWrite<'_>> = decision
            .effects
            .iter()
            .enumerate()
            .map(|(place, effect)| EffectToWrite {
                effect_id: new_id_in_order(now(), place),
                resource_id: id,
                effect: effect.clone(),
                event_id,
                snapshot: decision.resource.clone(),
            })
            .collect();
        outbox::write(client, now(), &effects).await.unwrap();
        let moved = decision.transition.map(|moved| (moved.from, Some(moved.to))).unwrap_or_default();
        self.end(client, event_id, EventVerdict::Decided(decision.outcome), None, moved).await;
    }

    async fn end(
        &self,
        client: &impl db::GenericClient,
        event_id: Uuid,
        verdict: EventVerdict,
        reason: Option<String>,
        (status_from, status_to): (Option<String>, Option<String>),
    ) {
        let outcome = EventOutcome { event_id, verdict, reason, status_from, status_to, attempts: 1 };
        inbox::record_outcomes(client, now(), &[outcome]).await.unwrap();
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
