//! A database with effects, a courier that carries them, and a clock that tests move.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use db::{Options, PlanShape, Pool, ids::new_id};
use domain::{Clock, SettableClock};
use jiff::Timestamp;
use publisher::Courier;
use serde_json::{Value, json};
use service::{
    SystemClock,
    settings::{
        AddressList, Care, Configured, Destination, DestinationSettings, HeaderSource, HttpSettings,
        PublisherSettings, Reach, SecretRef, Span,
    },
};
use tempfile::TempDir;
use testkit::Database;
use tokio_postgres::{Client, types::Json};
use uuid::Uuid;

/// The destination of all effects, unless a test says otherwise.
pub(crate) const NAME: &str = "fulfillment";
pub(crate) const SECRET: &str = "whsec_c2VncmVkbyBkYSBzZXBhcmHDp8Ojbw==";

pub(crate) struct Stage {
    pub(crate) database: Database,
    pub(crate) pool: Pool,
    pub(crate) clock: Arc<SettableClock>,
    pub(crate) settings: PublisherSettings,
    pub(crate) destination: Destination,
    files: TempDir,
}

/// As `ordem.effects` shows an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) state: String,
    pub(crate) attempts: i32,
    pub(crate) last_error: Option<String>,
}

/// One row of the attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tried {
    pub(crate) attempt: i32,
    pub(crate) result: String,
    pub(crate) http_status: Option<i32>,
    pub(crate) excerpt: Option<String>,
}

pub(crate) fn span(milliseconds: u64) -> Span {
    Span::of(Duration::from_millis(milliseconds))
}

pub(crate) fn ranges(list: &[&str]) -> AddressList {
    AddressList(list.iter().map(|range| range.parse().unwrap()).collect())
}

impl Stage {
    /// With shipped settings, loopback allowed, and a destination at this address.
    pub(crate) async fn new(url: &str) -> Self {
        let database = Database::create().await;
        let options = Options { plans: PlanShape::Pinned, ..database.options() };
        let pool = db::pool(&options, tokio::runtime::Handle::current()).unwrap();
        let files = tempfile::tempdir().unwrap();
        let config = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../config"));
        let mut settings = Configured::load(config).unwrap().settings.publisher;
        settings.allow_addresses = ranges(&["127.0.0.0/8", "::1/128"]);
        let file = |name: &str, text: &str| {
            std::fs::write(files.path().join(name), text).unwrap();
            SecretRef::File(files.path().join(name))
        };
        let http = HttpSettings::signed(file("url", url), vec![file("secret", SECRET)]);
        let destination = Destination {
            name: NAME.to_owned(),
            settings: DestinationSettings { reach: Reach::Http(Box::new(http)), care: Care::default() },
        };
        let clock = Arc::new(SettableClock::new(SystemClock.now()));
        Self { database, pool, clock, settings, destination, files }
    }

    /// How the publisher connects.
    fn options(&self) -> Options {
        Options { plans: PlanShape::Pinned, ..self.database.options() }
    }

    pub(crate) fn courier(&self) -> Courier {
        let (pool, clock) = (self.pool.clone(), self.clock.clone());
        Courier::new(&self.destination, &self.settings, &self.options(), pool, clock).unwrap()
    }

    /// One whose clock is the machine's, for loops.
    pub(crate) fn live_courier(&self) -> Arc<Courier> {
        let clock = Arc::new(SystemClock);
        let pool = self.pool.clone();
        Arc::new(Courier::new(&self.destination, &self.settings, &self.options(), pool, clock).unwrap())
    }

    /// Another secret besides the first.
    pub(crate) fn add_secret(&mut self, text: &str) {
        let path = self.files.path().join("second");
        std::fs::write(&path, text).unwrap();
        self.http().secrets.push(SecretRef::File(path));
    }

    /// The destination's own keys.
    pub(crate) fn http(&mut self) -> &mut HttpSettings {
        match &mut self.destination.settings.reach {
            Reach::Http(http) => http,
            other => panic!("{other:?} is no http"),
        }
    }

    /// The keys that all destinations have.
    pub(crate) fn care(&mut self) -> &mut Care {
        &mut self.destination.settings.care
    }

    /// A header's value in a file.
    pub(crate) fn secret(&self, name: &str, text: &str) -> HeaderSource {
        let path = self.files.path().join(name);
        std::fs::write(&path, text).unwrap();
        HeaderSource::Secret(SecretRef::File(path))
    }

    /// Where the destination's address is written.
    pub(crate) fn url_file(&self) -> PathBuf {
        self.files.path().join("url")
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Writes an effect of a resource, due now.
    pub(crate) async fn effect(&self, resource: &str, effect: &str, sequence: i32) -> Uuid {
        let fields = json!({"total_minor": 12990, "customer_email": "ana@example.com"});
        self.effect_with(resource, effect, sequence, fields).await
    }

    pub(crate) async fn effect_with(
        &self,
        resource: &str,
        effect: &str,
        sequence: i32,
        fields: Value,
    ) -> Uuid {
        self.write(&self.database.client().await, self.now(), resource, effect, sequence, fields).await
    }

    /// Writes an effect named by its sequence, due by the machine's clock, through this connection.
    pub(crate) async fn effect_by(&self, client: &Client, resource: &str, sequence: i32) -> Uuid {
        self.write(client, SystemClock.now(), resource, &format!("effect_{sequence}"), sequence, json!({}))
            .await
    }

    async fn write(
        &self,
        client: &Client,
        now: Timestamp,
        resource: &str,
        effect: &str,
        sequence: i32,
        fields: Value,
    ) -> Uuid {
        let effect_id = new_id(now);
        let sql = "with written as (insert into ordem_engine.effects
                       (effect_id, source, kind, resource_id, effect, effect_key, destination, sequence, event_id, status,
                        version_major, version_rank, fields, created_at)
                   values ($1, 'loja', 'order', $2, $3, '', $4, $5, $1, 'paid', 1767323045000000, 2, $6, $7))
                   insert into ordem_engine.effect_queue (effect_id, destination, lane, sequence, due_at)
                   values ($1, $4, hashtextextended($2, 0), $5, $7)";
        client
            .execute(
                sql,
                &[&effect_id, &resource, &effect, &self.destination.name, &sequence, &Json(fields), &now],
            )
            .await
            .unwrap();
        effect_id
    }

    /// Many effects at once: `lanes` resources, each with `each` effects, due now.
    pub(crate) async fn effects(&self, lanes: i32, each: i32) {
        let sql = "with written as (insert into ordem_engine.effects
                       (effect_id, source, kind, resource_id, effect, effect_key, destination, sequence, event_id, status,
                        version_major, version_rank, fields, created_at)
                   select (lpad(to_hex((extract(epoch from $4::timestamptz) * 1000)::bigint), 12, '0') || '7' ||
                           substr(md5(lane || '-' || place), 1, 3) || '8' || substr(md5(place || '-' || lane), 1, 15))::uuid,
                          'loja', 'order', 'ped_' || lane, 'effect_' || place, '', $3, place, gen_random_uuid(),
                          'paid', lane, 2, '{\"total_minor\": 12990, \"customer_email\": \"ana@example.com\"}', $4
                     from generate_series(1, $1::int4) lane, generate_series(0, $2::int4 - 1) place
                   returning effect_id, resource_id, sequence)
                   insert into ordem_engine.effect_queue (effect_id, destination, lane, sequence, due_at)
                   select effect_id, $3, hashtextextended(resource_id, 0), sequence, $4 from written";
        let client = self.database.client().await;
        client.execute(sql, &[&lanes, &each, &self.destination.name, &self.now()]).await.unwrap();
    }

    pub(crate) async fn shown(&self, effect_id: Uuid) -> Shown {
        let sql = "select state, attempts, last_error from ordem.effects where effect_id = $1";
        let row = self.database.client().await.query_one(sql, &[&effect_id]).await.unwrap();
        Shown { state: row.get(0), attempts: row.get(1), last_error: row.get(2) }
    }

    pub(crate) async fn tried(&self, effect_id: Uuid) -> Vec<Tried> {
        let sql = "select attempt, result, http_status, response_excerpt from ordem_engine.delivery_attempts
                    where effect_id = $1 order by started_at, attempt";
        let rows = self.database.client().await.query(sql, &[&effect_id]).await.unwrap();
        let from = |row: &tokio_postgres::Row| Tried {
            attempt: row.get(0),
            result: row.get(1),
            http_status: row.get(2),
            excerpt: row.get(3),
        };
        rows.iter().map(from).collect()
    }

    /// How many effects are in this state.
    pub(crate) async fn count(&self, state: &str) -> i64 {
        self.database.count(&format!("select count(*) from ordem.effects where state = '{state}'")).await
    }

    pub(crate) async fn run_sql(&self, sql: &str) {
        self.database.client().await.batch_execute(sql).await.unwrap();
    }
}
