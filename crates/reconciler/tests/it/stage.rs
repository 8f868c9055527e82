//! A source with an API of its own: database, configuration, clock.

use std::{fs, sync::Arc};

use domain::SettableClock;
use reconciler::{End, Parts, Pulled, SourceReader};
use service::{Shutdown, settings::Configured};
use tempfile::TempDir;
use testkit::Database;

use crate::world::{NOW, at};

/// The rules of the loja for webhooks, and another API.
fn profile(api: &str) -> String {
    let loja = include_str!("../../../../profiles/loja.toml");
    format!("{}\n{api}\n", loja.split("\n[api]").next().unwrap())
}

pub(crate) const ITEM: &str = "[api.item]\nkind = \"order\"\nresource = \"id\"\nsequence = \"sequence\"\ninstant = \"updated_at\"\n\
                    status = { path = \"status\", map = { paid = \"paid\", created = \"created\", canceled = \"canceled\" } }\n";

pub(crate) struct Stage {
    database: Database,
    pub(crate) pool: db::Pool,
    clock: Arc<SettableClock>,
    config: TempDir,
}

impl Stage {
    /// A source whose profile has this API, at this address.
    pub(crate) async fn new(api: &str, url: &str, token: &str) -> Self {
        Self::with(api, url, token, "").await
    }

    /// As [`Stage::new`], with these keys in the source.
    pub(crate) async fn with(api: &str, url: &str, token: &str, keys: &str) -> Self {
        let database = Database::create().await;
        let pool = database.pool();
        let config = tempfile::tempdir().unwrap();
        let dir = config.path().display();
        fs::create_dir(config.path().join("profiles")).unwrap();
        fs::write(config.path().join("profiles/test.toml"), profile(api)).unwrap();
        for (file, text) in [("api_url", url), ("api_token", token), ("api_user", "the-user")] {
            fs::write(config.path().join(file), text).unwrap();
        }
        let settings = format!(
            "[service]\nprofiles_dir = \"profiles\"\n[reconciler]\nattempts_max = 2\noverlap = \"1m\"\nlag = \"5s\"\n\
             allow_addresses = [\"127.0.0.0/8\"]\n[sources.test]\nprofile = \"test\"\nsecrets = []\n\
             constants = {{ account = \"acc/1\" }}\napi_url = \"file:{dir}/api_url\"\napi_token = \"file:{dir}/api_token\"\n\
             api_user = \"file:{dir}/api_user\"\n{keys}\n"
        );
        fs::write(config.path().join("test.toml"), settings).unwrap();
        Self { database, pool, clock: Arc::new(SettableClock::new(at(NOW))), config }
    }

    pub(crate) fn reader(&self) -> SourceReader {
        let parts = Parts {
            configured: Arc::new(Configured::load(self.config.path()).unwrap()),
            pool: self.pool.clone(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
        };
        SourceReader::open_for_lookups("test", parts).unwrap()
    }

    pub(crate) async fn round(&self) -> Pulled {
        match self.reader().round().await {
            (pulled, End::Complete) => pulled,
            (pulled, end) => panic!("{end:?} after {pulled:?}"),
        }
    }

    pub(crate) async fn cursors(&self) -> Vec<String> {
        let sql = "select name || ' ' || to_char(value at time zone 'UTC', 'DD HH24:MI:SS') \
                   from ordem_engine.cursors where source = 'test' order by name";
        self.texts(sql).await
    }

    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.database.pool().get().await.unwrap().query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn stored(&self) -> Vec<String> {
        self.texts("select coalesce(resource_id, '-') || ' ' || event_type from ordem.events order by 1")
            .await
    }
}
