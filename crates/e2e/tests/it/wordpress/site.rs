//! PHP's own server with the example and a stand-in for WordPress.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, RequestBuilder};
use serde_json::Value;
use sha2::Sha256;
use tempfile::TempDir;
use testkit::free_port;

use testkit::packages::or_skip;

/// Secrets that the site takes, old and new.
pub(crate) const SECRETS: [&str; 2] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "um segredo sem prefixo"];
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/wordpress");
const ENDPOINT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wordpress/ordem-endpoint.php");

/// One site behind two servers, each of which takes one request at a time.
pub(crate) struct Site {
    servers: Vec<Child>,
    ports: [u16; 2],
    state: TempDir,
    pub(crate) client: Client,
}

impl Site {
    /// Nothing where PHP is missing, which is said; in CI that fails.
    pub(crate) async fn start() -> Option<Self> {
        let php = Command::new("php").arg("--version").stdout(Stdio::null()).status();
        or_skip(php.map(drop).map_err(|error| format!("php (Debian: php-cli): {error}")))?;
        let (state, ports) = (tempfile::tempdir().unwrap(), [free_port(), free_port()]);
        let servers = ports.map(|port| serve(port, &state)).into();
        let site = Self { servers, ports, state, client: Client::new() };
        for server in 0..2 {
            site.answers(server).await;
        }
        Some(site)
    }

    /// The address of the route at one of the servers.
    pub(crate) fn url(&self, server: usize) -> String {
        format!("http://127.0.0.1:{}/wp-json/ordem/v1/effects", self.ports[server])
    }

    async fn answers(&self, server: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.client.get(self.url(server)).send().await.is_err() {
            assert!(Instant::now() < end, "PHP's server does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A file of the site.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    /// The lines of a file of the site.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// Status and body of the answer.
    pub(crate) async fn ask(&self, request: RequestBuilder) -> (u16, String) {
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// The same daily appointment as WordPress keeps.
    pub(crate) async fn forget(&self) {
        let url = format!("http://127.0.0.1:{}/cron", self.ports[0]);
        assert_eq!(self.ask(self.client.get(url)).await.0, 200);
    }

    /// The rows of the table: `[started_at, done_at]` by `webhook_id`.
    pub(crate) fn table(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("table.json")).unwrap()).unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _gone_either_way = server.kill();
            let _reaped = server.wait();
        }
    }
}

fn serve(port: u16, state: &TempDir) -> Child {
    Command::new("php")
        .args(["-d", "display_errors=stderr", "-S"])
        .arg(format!("127.0.0.1:{port}"))
        .arg(format!("{FOLDER}/site.php"))
        .env("SECRETS", SECRETS[0])
        .env("SECRET_PLAIN", SECRETS[1])
        .env("STATE", state.path())
        .env("ENDPOINT", ENDPOINT)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The signature of a call with a key's bytes.
pub(crate) fn signature(key: &[u8], id: &str, time: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(format!("{id}.{time}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}
