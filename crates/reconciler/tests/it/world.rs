//! A database, a store, a configuration and a clock.

use std::{fs, sync::Arc};

use db::ids;
use domain::{SettableClock, decide};
use jiff::Timestamp;
use profile::{Origin, Reading, Stored};
use reconciler::{End, Parts, Pulled, SourceReader};
use service::{Shutdown, settings::Configured};
use tempfile::TempDir;
use testkit::Database;

use crate::store::{Store, TOKEN};

/// Where the clock of each test starts.
pub(crate) const NOW: &str = "2026-01-02T03:10:00Z";

/// Where the first round starts to look, and the cursor with it.
pub(crate) const FIRST: &str = "2026-01-01T03:10:00Z";

pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) store: Store,
    pub(crate) clock: Arc<SettableClock>,
    pub(crate) shutdown: Shutdown,
    pub(crate) config: TempDir,
    pub(crate) pool: db::Pool,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with("").await
    }

    /// A world whose store promises that its list ascends by the instant of change.
    pub(crate) async fn sorted() -> Self {
        Self::sorted_with("").await
    }

    /// As [`World::sorted`], with these keys in the section of the reconciler.
    pub(crate) async fn sorted_with(keys: &str) -> Self {
        let world = Self::with(keys).await;
        let profile = include_str!("../../../../profiles/loja.toml");
        assert!(profile.contains("\nsorted = false\n"));
        fs::create_dir(world.config.path().join("profiles")).unwrap();
        world.write("profiles/loja.toml", &profile.replace("\nsorted = false\n", "\nsorted = true\n"));
        world.write("profiles.toml", "[service]\nprofiles_dir = \"profiles\"\n");
        world
    }

    /// A world with these keys in the section of the reconciler.
    pub(crate) async fn with(keys: &str) -> Self {
        let database = Database::create().await;
        let store = Store::start().await;
        let config = tempfile::tempdir().unwrap();
        let pool = database.pool();
        let clock = Arc::new(SettableClock::new(at(NOW)));
        let world = Self { database, store, clock, shutdown: Shutdown::new(), config, pool };
        world.write("api_url", &world.store.url());
        world.write("api_token", TOKEN);
        let allow = if keys.contains("allow_addresses") { "" } else { "allow_addresses = [\"127.0.0.0/8\"]" };
        let dir = world.config.path().display();
        world.write(
            "test.toml",
            &format!(
                "[reconciler]\nattempts_max = 2\n{allow}\n{keys}\n\
                 [sources.loja]\nprofile = \"loja\"\nsecrets = []\n\
                 api_url = \"file:{dir}/api_url\"\napi_token = \"file:{dir}/api_token\"\n"
            ),
        );
        world
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.config.path().join(file), text).unwrap();
    }

    /// The reader, with whatever the configuration says now.
    pub(crate) fn reader(&self) -> SourceReader {
        SourceReader::open("loja", self.parts()).unwrap()
    }

    pub(crate) fn parts(&self) -> Parts {
        Parts {
            configured: Arc::new(Configured::load(self.config.path()).unwrap()),
            pool: self.pool.clone(),
            clock: self.clock.clone(),
            shutdown: self.shutdown.clone(),
        }
    }

    /// A round that must be complete.
    pub(crate) async fn round(&self) -> Pulled {
        match self.reader().round().await {
            (pulled, End::Complete) => pulled,
            (pulled, end) => panic!("{end:?} after {pulled:?}"),
        }
    }

    /// A round that must fail, with the reason.
    pub(crate) async fn failing_round(&self) -> String {
        match self.reader().round().await {
            (_, End::Failed(failure)) => failure.to_string(),
            (pulled, end) => panic!("{end:?} after {pulled:?}"),
        }
    }

    /// `id@origin` of each event, in the order of ids.
    pub(crate) async fn events(&self) -> Vec<String> {
        let sql = "select coalesce(resource_id, '-') || '@' || origin from ordem.events order by resource_id, event_id";
        let rows = self.pool.get().await.unwrap().query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn cursor(&self) -> Option<String> {
        let sql = "select value from ordem_engine.cursors where source = 'loja' and name = '/orders'";
        let row = self.pool.get().await.unwrap().query_opt(sql, &[]).await.unwrap();
        row.map(|row| row.get::<_, Timestamp>(0).to_string())
    }

    /// Applies every event of the inbox to its row, as the applier would.
    pub(crate) async fn apply(&self) {
        let configured = self.parts().configured;
        let profile = &configured.profiles["loja"];
        let client = self.pool.get().await.unwrap();
        let sql =
            "select origin, body, dedup_key, event_type from ordem_engine.inbox_events order by event_id";
        for row in client.query(sql, &[]).await.unwrap() {
            let origin = if row.get::<_, &str>(0) == "webhook" { Origin::Webhook } else { Origin::Reconcile };
            let stored = Stored {
                source: "loja",
                origin,
                body: row.get(1),
                headers: &(),
                event_type: row.get(3),
                event_key: row.get(2),
                received_at: at(NOW),
            };
            let Reading::Fact { resource, fact } = profile.read(&stored, &|kind| configured.flow(kind))
            else {
                continue;
            };
            let rows = db::resources::load(&client, std::slice::from_ref(&resource)).await.unwrap();
            let decision = decide(rows.get(&resource), &fact, configured.flow(&resource.kind).unwrap());
            db::resources::save(&client, at(NOW), &[(&resource, &decision.resource)]).await.unwrap();
        }
    }

    /// Stores a webhook, as the receiver would.
    pub(crate) async fn webhook(&self, event: &testkit::Event) {
        let body = event.body();
        let key = format!("webhook {}", event.json["id"]);
        let stored = db::inbox::NewEvent {
            event_id: ids::new_id(at(NOW)),
            source: "loja",
            dedup_key: Some(&key),
            body_hash: 0,
            event_type: event.json["type"].as_str(),
            kind: Some("order"),
            resource_id: event.json["data"]["id"].as_str(),
            origin: db::inbox::Origin::Webhook,
            received_at: at(NOW),
            headers: None,
            body: &body,
        };
        let client = self.pool.get().await.unwrap();
        assert!(db::inbox::store(&client, &[stored]).await.unwrap().is_empty());
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}
