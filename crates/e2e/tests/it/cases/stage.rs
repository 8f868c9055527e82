//! What a case is played on: one database and one receiver for all, the other parts in this process with a clock of the case.

use std::{collections::HashSet, path::Path, sync::Arc, time::Duration};

use applier::Worker;
use db::{PlanShape, Pool};
use domain::{Clock, SettableClock};
use jiff::Timestamp;
use profile::Incoming;
use publisher::Courier;
use reconciler::{Parts, SourceReader};
use serde_json::Value;
use service::{Context, Health, Shutdown, SystemClock, settings::Configured};
use tempfile::TempDir;
use testkit::{Database, free_port};
use tokio_postgres::Client;
use uuid::Uuid;

use super::{
    api::Api,
    case::{Case, Delivery},
    destination::Destination,
    receiver::Receiver,
    source::Source,
};

const SECRET: &str = "segredo_de_teste_loja";
const EFFECT_SECRET: &str = "whsec_c2VncmVkbyBkYSBzZXBhcmHDp8Ojbw==";
/// Before this instant some file would lie more than a day in the future.
const CLOCK_AT_LEAST: &str = "2026-11-02T00:00:00Z";

/// Everything of a case goes from these, and what refers to others goes first.
const TABLES: [&str; 17] = [
    "lookup_events",
    "lookups",
    "inbox_answers",
    "inbox_queue",
    "inbox_retries",
    "inbox_outcomes",
    "inbox_keys",
    "inbox_events",
    "refused_requests",
    "effect_queue",
    "effect_outcomes",
    "effect_keys",
    "effects",
    "delivery_attempts",
    "resources",
    "cursors",
    "paused_destinations",
];

/// What all cases share.
pub(crate) struct House {
    pub(crate) database: Database,
    pub(crate) client: Client,
    pub(crate) receiver: Receiver,
    pool: Pool,
    config: TempDir,
}

/// What one case has for itself.
pub(crate) struct Stage<'a> {
    pub(crate) house: &'a House,
    /// The name of the case's source.
    pub(crate) source: &'a str,
    pub(crate) clock: Arc<SettableClock>,
    pub(crate) destination: Destination,
    pub(crate) api: Api,
    pub(crate) workers: Vec<Worker>,
    pub(crate) config: TempDir,
    configured: Arc<Configured>,
}

impl House {
    pub(crate) async fn new() -> Self {
        let database = Database::create().await;
        let config = tempfile::tempdir().unwrap();
        write_config(config.path(), &loja(config.path()), "");
        let mut options = database.options();
        options.plans = PlanShape::Pinned;
        options.connections_max = 24;
        let pool = db::pool(&options, tokio::runtime::Handle::current()).unwrap();
        let receiver = Receiver::process(&database.url(), config.path(), &[]).await;
        Self { client: database.client().await, pool, receiver, config, database }
    }

    /// Another receiver, on the same database by this address.
    pub(crate) async fn another_receiver(&self, url: &str, environment: &[(&str, &str)]) -> Receiver {
        Receiver::process(url, self.config.path(), environment).await
    }

    /// What a receiver says that does not start: its exit code and its log.
    pub(crate) fn refused_start(&self, source: &Source) -> (Option<i32>, String) {
        let config = tempfile::tempdir().unwrap();
        let sections = "[service]\nprofiles_dir = \"profiles\"\n".to_owned() + &source.write(config.path());
        write_config(config.path(), &sections, "");
        let output = std::process::Command::new(testkit::bin("receiver"))
            .env("DATABASE_URL", self.database.url())
            .arg("--config")
            .arg(config.path())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Nothing is left of the case before.
    pub(crate) async fn clear(&self) {
        let deletes: Vec<String> =
            TABLES.iter().map(|table| format!("delete from ordem_engine.{table}")).collect();
        self.client.batch_execute(&deletes.join(";")).await.unwrap();
    }

    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        self.client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn count(&self, sql: &str) -> i64 {
        self.client.query_one(sql, &[]).await.unwrap().get(0)
    }
}

impl<'a> Stage<'a> {
    pub(crate) async fn set(house: &'a House, case: &'a Case, destination: Destination) -> Self {
        let api = Api::start().await;
        let config = tempfile::tempdir().unwrap();
        let mut sections = format!("[applier]\nbatch_max = {}\n", case.number("claim_batch", 1000));
        sections += &format!(
            "[publisher]\nallow_addresses = [\"127.0.0.0/8\"]\nattempts_max = {}\n",
            case.number("permanent_after_attempts", 12),
        );
        // The waits that a provider asks for are real time here, so they are capped.
        sections +=
            "[reconciler]\nallow_addresses = [\"127.0.0.0/8\"]\nlag = \"0s\"\nretry_after_max = \"1s\"\n";
        sections += &format!("[receiver]\nlisten = \"127.0.0.1:{}\"\n", free_port());
        sections += "[service]\nprofiles_dir = \"profiles\"\n";
        sections += &match case.source.is_shared() {
            true => loja(config.path()),
            false => case.source.write(config.path()),
        };
        let mut treatment = String::new();
        if let Some(rule) = case.config.get("destination_success") {
            treatment +=
                &format!("success = {{ field = {}, equals = {} }}\n", rule["json_field"], rule["equals"]);
        }
        if let Some(meaning) = case.config.get("destination_409") {
            treatment += &format!("conflict = {meaning}\n");
        }
        if destination.times_out() {
            treatment += "request_timeout = \"1s\"\n";
        }
        write_config(config.path(), &sections, &treatment);
        std::fs::write(config.path().join("api_url"), api.url()).unwrap();
        std::fs::write(config.path().join("url"), destination.url()).unwrap();
        let configured = Arc::new(Configured::load(config.path()).unwrap());
        let at_least: Timestamp = CLOCK_AT_LEAST.parse().unwrap();
        let clock = case.clock.unwrap_or_else(|| SystemClock.now().max(at_least));
        let mut stage = Self {
            house,
            source: &case.source.name,
            clock: Arc::new(SettableClock::new(clock)),
            destination,
            api,
            workers: Vec::new(),
            config,
            configured,
        };
        stage.workers = (0..case.number("workers", 1)).map(|_| stage.worker()).collect();
        stage
    }

    pub(crate) fn worker(&self) -> Worker {
        Worker::new(&self.context())
    }

    /// A receiver with the case's sources and its clock.
    pub(crate) async fn receiver(&self) -> Receiver {
        Receiver::here(self.context()).await
    }

    /// How many events the source's profile sees in a request.
    pub(crate) fn events_in(&self, delivery: &Delivery) -> usize {
        let headers = &delivery.headers[..];
        let incoming = Incoming { body: &delivery.body, headers: &headers };
        self.configured.profiles[self.source].envelopes(&incoming).len().max(1)
    }

    fn context(&self) -> Context {
        Context {
            configured: self.configured.clone(),
            pool: self.house.pool.clone(),
            database: self.house.database.options(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
            health: Health::new(),
        }
    }

    /// Events that are not among these, in the order of their arrival, with their resource.
    pub(crate) async fn arrived(&self, known: &HashSet<Uuid>) -> Vec<(Uuid, String)> {
        let sql = "select event_id, coalesce(resource_id, '') from ordem.events order by event_id";
        // Ids of one millisecond are in no order.
        self.clock.advance_milliseconds(1);
        let rows = self.house.client.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).filter(|(id, _)| !known.contains(id)).collect()
    }

    /// Applies, with all workers side by side, until nothing is left that is due.
    pub(crate) async fn apply(&mut self) {
        let waits = "select (select count(*) from ordem_engine.inbox_queue)
                          + (select count(*) from ordem_engine.inbox_retries where due_at <= $1)";
        let end = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let passes = self.workers.iter_mut().map(Worker::pass);
            for passed in futures_util::future::join_all(passes).await {
                passed.unwrap();
            }
            let row = self.house.client.query_one(waits, &[&self.clock.now()]).await.unwrap();
            if row.get::<_, i64>(0) == 0 {
                return;
            }
            assert!(tokio::time::Instant::now() < end, "there is always more to apply");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Delivers until nothing is due, or a call is held back: then its round goes on in the task returned.
    pub(crate) async fn publish(&self) -> Option<tokio::task::JoinHandle<()>> {
        let (settings, pool) = (&self.configured.settings.publisher, self.house.pool.clone());
        let fulfillment = &self.configured.destinations["fulfillment"];
        let database = self.house.database.options();
        let courier = Courier::new(fulfillment, settings, &database, pool, self.clock.clone()).unwrap();
        let mut rounds = tokio::spawn(async move { while courier.round().await.unwrap() > 0 {} });
        tokio::select! {
            ended = &mut rounds => ended.unwrap(),
            // A round that is not the held one ends soon.
            () = async {
                self.destination.holds().await;
                tokio::time::sleep(Duration::from_millis(300)).await;
            } => return (!rounds.is_finished()).then_some(rounds),
        }
        None
    }

    /// One round of reading the list of the store's API.
    pub(crate) async fn reconcile(&self) {
        SourceReader::open(self.source, self.parts()).unwrap().round().await;
    }

    /// Whether the provider has lists that are read.
    pub(crate) fn has_lists(&self) -> bool {
        SourceReader::open(self.source, self.parts()).is_ok_and(|reader| reader.has_rounds())
    }

    /// The resource that an item of a list is about.
    pub(crate) fn resource_of(&self, item: &Value) -> String {
        let profile = &self.configured.profiles[self.source];
        let item = item.to_string();
        let lists = profile.api().into_iter().flat_map(|api| &api.lists);
        let ids = lists.filter_map(|list| profile.api_envelope(&list.items, item.as_bytes()).resource_id);
        ids.map(std::borrow::Cow::into_owned).next().unwrap_or_default()
    }

    /// Reads what events wait for and is due: how many addresses.
    pub(crate) async fn look_up(&self) -> usize {
        if !self.configured.profiles[self.source].fetches_any() {
            return 0;
        }
        let reader = SourceReader::open_for_lookups(self.source, self.parts()).unwrap();
        reader.serve_once().await.unwrap().lookups
    }

    /// Events that wait for the provider's answer, or for their turn.
    pub(crate) async fn waiting(&self) -> i64 {
        let sql = "select count(*) from ordem.events where coalesce(outcome, 'fetching') = 'fetching'";
        self.house.count(sql).await
    }

    fn parts(&self) -> Parts {
        Parts {
            configured: self.configured.clone(),
            pool: self.house.pool.clone(),
            clock: self.clock.clone(),
            shutdown: Shutdown::new(),
        }
    }
}

/// `loja`, and the same provider twice more: two accounts are two sources.
fn loja(dir: &Path) -> String {
    let at = dir.display();
    std::fs::write(dir.join("secret"), SECRET).unwrap();
    let mut text = String::new();
    for source in ["loja", "conta-a", "conta-b"] {
        text += &format!("[sources.{source}]\nprofile = \"loja\"\nsecrets = [\"file:{at}/secret\"]\n");
        if source == "loja" {
            text += &format!("api_url = \"file:{at}/api_url\"\napi_token = \"file:{at}/api_token\"\n");
        }
    }
    text
}

/// `sections` and the destination with its further settings.
fn write_config(dir: &Path, sections: &str, treatment: &str) {
    let write = |file: &str, text: &str| std::fs::write(dir.join(file), text).unwrap();
    write("effect_secret", EFFECT_SECRET);
    write("api_token", "token");
    let at = dir.display();
    let text = format!(
        "{sections}[destinations.fulfillment]\ntype = \"http\"\nurl = \"file:{at}/url\"\n\
         secrets = [\"file:{at}/effect_secret\"]\n{treatment}"
    );
    write("cases.toml", &text);
}
