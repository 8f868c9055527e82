//! Real daemons on a database of their own, with the shipped configuration and what a test adds to it.

use std::{
    fs,
    process::{Command, Output},
};

use tempfile::TempDir;
use testkit::{Daemon, Database, bin, free_port};

/// Daemons that a test starts one by one.
pub(crate) struct System {
    pub(crate) database: Database,
    pub(crate) daemons: Vec<Daemon>,
    pub(crate) environment: Vec<(&'static str, String)>,
    config: TempDir,
    port: u16,
}

impl System {
    /// Nothing runs yet. `settings` is one more file in the configuration's folder.
    pub(crate) async fn new(settings: &str, environment: &[(&'static str, &str)]) -> Self {
        let config = tempfile::tempdir().unwrap();
        for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../config")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), config.path().join(file.file_name())).unwrap();
        }
        fs::write(config.path().join("test.toml"), settings).unwrap();
        let port = free_port();
        let mut all = vec![
            ("ORDEM_TEST_CONFIG", config.path().display().to_string()),
            ("ORDEM__RECEIVER__LISTEN", format!("127.0.0.1:{port}")),
            ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8".to_owned()),
        ];
        all.extend(environment.iter().map(|(key, value)| (*key, (*value).to_owned())));
        let database = Database::create().await;
        Self { database, daemons: Vec::new(), environment: all, config, port }
    }

    /// Starts a daemon and waits until it is ready; returns its place in `daemons`.
    pub(crate) async fn add(&mut self, name: &str) -> usize {
        let mut daemon = Daemon::start(name, &self.database.url(), &self.environment);
        daemon.ready().await;
        self.daemons.push(daemon);
        self.daemons.len() - 1
    }

    /// Where a source's webhooks go.
    pub(crate) fn target(&self, source: &str) -> String {
        format!("http://127.0.0.1:{}/webhooks/{source}", self.port)
    }

    /// The first column of each row, text.
    pub(crate) async fn strings(&self, sql: &str) -> Vec<String> {
        let rows = self.database.client().await.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Runs the command line's program to its end, which must be a good one.
    pub(crate) fn ordem(&self, arguments: &[&str]) -> Output {
        let output = Command::new(bin("ordem"))
            .args(arguments)
            .env("DATABASE_URL", self.database.url())
            .env("ORDEM_CONFIG", self.config.path())
            .envs(self.environment.iter().map(|(key, value)| (*key, value)))
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// What every daemon wrote, for the message of a failure.
    pub(crate) fn logs(&self) -> String {
        self.daemons.iter().map(Daemon::log).collect()
    }
}
