//! A receiver with a database of its own, and requests to it.

use std::time::Duration;

use reqwest::{Client, Response, header::HeaderMap};
use testkit::{Daemon, Database, SECRET, free_port, sign};

/// A running receiver.
pub(crate) struct App {
    pub(crate) database: Database,
    pub(crate) daemon: Daemon,
    pub(crate) client: Client,
    pub(crate) url: String,
    pub(crate) port: u16,
}

impl App {
    /// With the usual settings.
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// With further environment.
    pub(crate) async fn start_with(environment: &[(&str, &str)]) -> Self {
        let database = Database::create().await;
        let url = database.url();
        Self::start_on(database, &url, environment).await
    }

    /// On this database, reached by this address.
    pub(crate) async fn start_on(
        database: Database,
        database_url: &str,
        environment: &[(&str, &str)],
    ) -> Self {
        let port = free_port();
        let daemon = Self::daemon(database_url, port, environment);
        let client = Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
        let mut app = Self { database, daemon, client, url: format!("http://127.0.0.1:{port}"), port };
        app.daemon.ready().await;
        app
    }

    pub(crate) fn daemon(database_url: &str, port: u16, environment: &[(&str, &str)]) -> Daemon {
        let mut all = vec![
            ("LOJA_WEBHOOK_SECRET", SECRET.to_owned()),
            ("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{port}")),
        ];
        all.extend(environment.iter().map(|(key, value)| (*key, (*value).to_owned())));
        Daemon::start("receiver", database_url, &all)
    }

    /// Posts bytes with a right signature.
    pub(crate) async fn post(&self, body: impl Into<Vec<u8>>) -> Response {
        let body = body.into();
        let signature = sign(SECRET, &body);
        self.post_signed(body, &signature).await
    }

    /// Posts bytes with this signature.
    pub(crate) async fn post_signed(&self, body: Vec<u8>, signature: &str) -> Response {
        let request =
            self.client.post(format!("{}/webhooks/loja", self.url)).header("x-loja-signature", signature);
        request.body(body).send().await.unwrap()
    }

    /// Posts bytes with these headers and no other.
    pub(crate) async fn post_with(&self, path: &str, headers: HeaderMap, body: Vec<u8>) -> Response {
        self.client.post(format!("{}{path}", self.url)).headers(headers).body(body).send().await.unwrap()
    }

    /// Events in the inbox.
    pub(crate) async fn events(&self) -> i64 {
        self.database.count("select count(*) from ordem.events").await
    }
}
