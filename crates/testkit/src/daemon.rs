//! Real processes: started, waited for, killed.

use std::{
    collections::BTreeSet,
    fs::File,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// A port of this machine that nobody listens on right now.
///
/// # Panics
/// When the machine has none.
pub fn free_port() -> u16 {
    // The system may give a port again as soon as it is let go of: two of one daemon must differ.
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = listener.expect("a free port").port();
        if GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
            return port;
        }
    }
}

/// The path of one of the workspace's binaries, built beside this test.
///
/// # Panics
/// When it was not built.
pub fn bin(name: &str) -> PathBuf {
    let path = programs().join(name);
    assert!(path.exists(), "{} is not built: run `cargo build --workspace --bins` first", path.display());
    path
}

/// Where cargo puts what it builds, whatever the profile.
pub(crate) fn target_folder() -> PathBuf {
    let mut dir = programs();
    dir.pop();
    dir
}

fn programs() -> PathBuf {
    let mut dir = std::env::current_exe().expect("this test's path");
    dir.pop();
    if dir.ends_with("deps") {
        dir.pop();
    }
    dir
}

/// A daemon as its own process. Dropping it kills it.
#[derive(Debug)]
pub struct Daemon {
    name: String,
    child: Child,
    admin_port: u16,
    logs: TempDir,
}

impl Daemon {
    /// Starts the daemon with this environment; its admin port is chosen here, and its configuration folder is the
    /// shipped one unless `ORDEM_TEST_CONFIG` names another.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(name: &str, database_url: &str, environment: &[(&str, String)]) -> Self {
        let admin_port = free_port();
        let logs = tempfile::tempdir().expect("a folder for logs");
        let log = File::create(logs.path().join("log")).expect("a log file");
        let config = environment.iter().find(|(key, _)| *key == "ORDEM_TEST_CONFIG");
        let config =
            config.map_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../../config"), |(_, dir)| dir.as_str());
        let child = Command::new(bin(name))
            .arg("--config")
            .arg(config)
            .env_remove("ORDEM_CONFIG")
            .env("DATABASE_URL", database_url)
            .env(format!("ORDEM__{}__ADMIN", name.to_uppercase()), format!("127.0.0.1:{admin_port}"))
            .envs(environment.iter().map(|(key, value)| (*key, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .spawn()
            .expect("start the daemon");
        Self { name: name.to_owned(), child, admin_port, logs }
    }

    /// Waits until its `/readyz` says so.
    ///
    /// # Panics
    /// With its log when it ends or takes more than 30 seconds.
    pub async fn ready(&mut self) {
        let end = Instant::now() + Duration::from_secs(30);
        while !matches!(self.get("readyz").await, Some((200, _))) {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("{} ended with {status}:\n{}", self.name, self.log());
            }
            assert!(Instant::now() < end, "{} is not ready in time:\n{}", self.name, self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Status and body of a page of its admin port; `None` when it does not answer.
    pub async fn get(&self, page: &str) -> Option<(u16, String)> {
        let url = format!("http://127.0.0.1:{}/{page}", self.admin_port);
        let answer = reqwest::get(url).await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.ok()?))
    }

    /// The value of a metric whose line starts with this text, summed over its labels; 0 when there is none.
    pub async fn metric(&self, start: &str) -> f64 {
        let Some((_, text)) = self.get("metrics").await else { return 0.0 };
        text.lines()
            .filter(|line| line.starts_with(start))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.logs.path().join("log")).unwrap_or_default()
    }

    /// Ends it at once, as a crash would (SIGKILL).
    ///
    /// # Panics
    /// When the signal cannot be sent.
    pub fn kill(&mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("reap");
    }

    /// Asks it to stop (SIGTERM) and waits for its exit.
    ///
    /// # Panics
    /// With its log when it takes longer than `bound`.
    pub async fn stop(&mut self, bound: Duration) -> ExitStatus {
        self.signal("TERM");
        self.ended(bound).await
    }

    /// Waits for its exit.
    ///
    /// # Panics
    /// With its log when it takes longer than `bound`.
    pub async fn ended(&mut self, bound: Duration) -> ExitStatus {
        let end = Instant::now() + bound;
        loop {
            if let Some(status) = self.child.try_wait().expect("ask for the exit") {
                return status;
            }
            assert!(Instant::now() < end, "{} did not stop within {bound:?}:\n{}", self.name, self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Sends a signal by its name.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "signal {name} not sent");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _gone_either_way = self.child.kill();
        let _reaped = self.child.wait();
    }
}
