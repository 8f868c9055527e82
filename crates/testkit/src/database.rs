//! A migrated database for each test, cloned from a template that is made once.

use std::time::Duration;

use db::{Options, PlanShape};
use deadpool_postgres::Pool;
use tokio_postgres::{Client, Config, NoTls};
use uuid::Uuid;

const USUAL: &str = "postgres://postgres@127.0.0.1:5432/postgres";
/// Makers of the template wait for each other on this advisory lock.
const TEMPLATE_LOCK: i64 = 0x7465_6d70;

/// A database of one's own, gone when this is dropped.
#[derive(Debug)]
pub struct Database {
    name: String,
    admin: Config,
}

impl Database {
    /// A database with the newest schema.
    ///
    /// # Panics
    /// When no server can be reached.
    pub async fn create() -> Self {
        let admin = admin();
        let client = dial(&admin).await;
        let template = template(&client, &admin).await;
        let name = format!("ordem_test_{}", Uuid::now_v7().simple());
        // Cloning fails while someone is connected to the template, which only its maker ever is.
        client
            .batch_execute(&format!("create database {name} template {template}"))
            .await
            .expect("clone the template");
        Self { name, admin }
    }

    /// A database without any schema.
    ///
    /// # Panics
    /// When no server can be reached.
    pub async fn empty() -> Self {
        let admin = admin();
        let name = format!("ordem_test_{}", Uuid::now_v7().simple());
        dial(&admin)
            .await
            .batch_execute(&format!("create database {name}"))
            .await
            .expect("create a database");
        Self { name, admin }
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.url_as(self.admin.get_user().unwrap_or("postgres"))
    }

    /// Its address for another role that needs no password.
    pub fn url_as(&self, user: &str) -> String {
        let host = match self.admin.get_hosts().first() {
            Some(tokio_postgres::config::Host::Tcp(host)) => host.clone(),
            _ => "127.0.0.1".to_owned(),
        };
        let port = self.admin.get_ports().first().copied().unwrap_or(5432);
        let password = self.admin.get_password().map(String::from_utf8_lossy);
        let password = password.map(|text| format!(":{text}")).unwrap_or_default();
        format!("postgres://{user}{password}@{host}:{port}/{}", self.name)
    }

    /// A connection to it.
    ///
    /// # Panics
    /// When it cannot be reached.
    pub async fn client(&self) -> Client {
        let mut config = self.admin.clone();
        config.dbname(&self.name);
        dial(&config).await
    }

    /// Options as a daemon would have them.
    pub fn options(&self) -> Options {
        Options {
            url: self.url(),
            application_name: "ordem test".to_owned(),
            connections_max: 8,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            plans: PlanShape::Free,
        }
    }

    /// A pool as a daemon would have it.
    ///
    /// # Panics
    /// When the address is wrong.
    pub fn pool(&self) -> Pool {
        db::pool(&self.options(), tokio::runtime::Handle::current()).expect("a pool")
    }

    /// One number from one statement.
    ///
    /// # Panics
    /// When the statement fails or gives no single `int8`.
    pub async fn count(&self, sql: &str) -> i64 {
        self.client().await.query_one(sql, &[]).await.expect(sql).get(0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (name, admin) = (self.name.clone(), self.admin.clone());
        let dropping = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let client = dial(&admin).await;
                let _gone_either_way =
                    client.batch_execute(&format!("drop database if exists {name} with (force)")).await;
            });
        });
        let _best_effort = dropping.join();
    }
}

fn admin() -> Config {
    let url = std::env::var("TEST_DATABASE_URL").unwrap_or_else(|_| USUAL.to_owned());
    url.parse().expect("TEST_DATABASE_URL is a PostgreSQL address")
}

async fn dial(config: &Config) -> Client {
    let dialled = config.connect(NoTls).await;
    let (client, connection) = dialled.unwrap_or_else(|error| {
        panic!("no PostgreSQL to test with ({error}): run `make test`, or set TEST_DATABASE_URL to an administrator's address")
    });
    tokio::spawn(connection);
    client
}

async fn template(client: &Client, admin: &Config) -> String {
    let name = format!("ordem_template_{:x}", db::fingerprint());
    client.execute("select pg_advisory_lock($1)", &[&TEMPLATE_LOCK]).await.expect("lock");
    let ready = client
        .query_opt("select from pg_database where datname = $1 and datistemplate", &[&name])
        .await
        .expect("look for the template");
    if ready.is_none() {
        client.batch_execute(&format!("drop database if exists {name} with (force)")).await.expect("drop");
        client.batch_execute(&format!("create database {name}")).await.expect("create");
        let mut config = admin.clone();
        config.dbname(&name);
        db::migrate(&mut dial(&config).await, Duration::from_secs(60)).await.expect("migrate the template");
        // The connection ends in the background; the server is told to end it now.
        client
            .execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", &[&name])
            .await
            .expect("disconnect");
        client.batch_execute(&format!("alter database {name} is_template true")).await.expect("finish");
    }
    client.execute("select pg_advisory_unlock($1)", &[&TEMPLATE_LOCK]).await.expect("unlock");
    name
}
