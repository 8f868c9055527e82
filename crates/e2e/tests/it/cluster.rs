//! A PostgreSQL server of one test, that survives being killed: fsync is on.

use std::{
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use testkit::free_port;
use tokio_postgres::NoTls;

/// A throw-away cluster. Dropping it kills the server.
pub(crate) struct Cluster {
    bin: PathBuf,
    owner: Option<&'static str>,
    dir: TempDir,
    port: u16,
    server: Child,
}

impl Cluster {
    /// Starts one, where this machine has the server's programs.
    pub(crate) async fn start() -> Option<Self> {
        let bin = programs()?;
        let owner = owner()?;
        let dir = tempfile::Builder::new().prefix("ordem-e2e-pg.").tempdir_in("/tmp").unwrap();
        if let Some(owner) = owner {
            let chowned = Command::new("chown").arg(owner).arg(dir.path()).status();
            assert!(chowned.is_ok_and(|status| status.success()));
        }
        let data = dir.path().join("data");
        let made = as_owner(owner, &bin.join("initdb"))
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.is_ok_and(|status| status.success()), "initdb");
        let port = free_port();
        let server = launch(owner, &bin, dir.path(), port);
        let mut cluster = Self { bin, owner, dir, port, server };
        cluster.ready().await;
        Some(cluster)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// A crash of the whole server, and a start that has to recover.
    pub(crate) async fn kill_and_restart(&mut self) {
        self.kill();
        self.server = launch(self.owner, &self.bin, self.dir.path(), self.port);
        self.ready().await;
    }

    /// The server and all its processes, at once.
    fn kill(&mut self) {
        let file = self.dir.path().join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(server) = text.lines().next().and_then(|line| line.parse::<u32>().ok()) {
            let mut ids = vec![server.to_string()];
            ids.extend(children(server).iter().map(ToString::to_string));
            let _some_may_be_gone =
                Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status();
        }
        let _gone = self.server.kill();
        let _reaped = self.server.wait();
    }

    async fn ready(&mut self) {
        let end = Instant::now() + Duration::from_secs(30);
        while tokio_postgres::connect(&self.url(), NoTls).await.is_err() {
            // It refuses to start while a process of the one before is still about.
            if let Ok(Some(_ended)) = self.server.try_wait() {
                self.server = launch(self.owner, &self.bin, self.dir.path(), self.port);
            }
            let log = || std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < end, "the server did not start:\n{}", log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill();
    }
}

fn launch(owner: Option<&str>, bin: &Path, dir: &Path, port: u16) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(dir.join("log")).unwrap();
    let mut command = as_owner(owner, &bin.join("postgres"));
    command.arg("-D").arg(dir.join("data")).arg("-k").arg(dir);
    for setting in ["listen_addresses=127.0.0.1", "fsync=on", "synchronous_commit=on", "shared_buffers=64MB"]
    {
        command.args(["-c", setting]);
    }
    // Its own group: a Ctrl-C at the terminal is for the test.
    command.args(["-p", &port.to_string()]).process_group(0);
    command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

/// The programs on the path, else the newest of the usual places.
fn programs() -> Option<PathBuf> {
    let is_complete = |dir: &PathBuf| dir.join("initdb").exists() && dir.join("postgres").exists();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(dir) = std::env::split_paths(&path).find(is_complete) {
        return Some(dir);
    }
    let version = |dir: &PathBuf| -> u32 {
        let digits = dir.to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>();
        digits.parse().unwrap_or(0)
    };
    let mut found = Vec::new();
    for parent in ["/usr/lib/postgresql", "/usr", "/opt/homebrew/opt", "/usr/local/opt"] {
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            found.push(entry.path().join("bin"));
        }
    }
    found.retain(is_complete);
    found.into_iter().max_by_key(version)
}

/// Who runs the server: it refuses root. The inner nothing: whoever runs the test.
#[expect(clippy::option_option, reason = "no server at all is not the same as no other user")]
fn owner() -> Option<Option<&'static str>> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if id(&["-u"])? != "0" {
        return Some(None);
    }
    ["postgres", "_postgres", "nobody"].into_iter().find(|name| id(&["-u", name]).is_some()).map(Some)
}

fn as_owner(owner: Option<&str>, program: &Path) -> Command {
    let mut command = match owner {
        None => Command::new(program),
        Some(owner) => {
            let mut command = Command::new("runuser");
            command.args(["-u", owner, "--"]).arg(program);
            command
        }
    };
    command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// The processes that this one started.
fn children(parent: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().filter_map(|number| number.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    });
    pairs.filter(|(_, of): &(u32, u32)| *of == parent).map(|(id, _)| id).collect()
}
