//! One daemon as a child process: start, wait until ready, kill, stop.

use std::{
    fs::{self, OpenOptions},
    net::SocketAddr,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

/// How long a daemon may take to become ready.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// How long a daemon may take to drain: a little longer than its own deadline.
const STOP_WITHIN: Duration = Duration::from_secs(22);

const POLL: Duration = Duration::from_millis(50);

/// Lines of the log that an error shows.
const TAIL_LINES: usize = 25;

/// A daemon and, while it runs, its process.
#[derive(Debug)]
pub struct Daemon {
    /// What it is called.
    pub name: &'static str,
    program: PathBuf,
    environment: Vec<(String, String)>,
    admin: SocketAddr,
    log: PathBuf,
    child: Option<Child>,
}

impl Daemon {
    /// A daemon that does not run yet.
    pub fn new(
        name: &'static str,
        program: PathBuf,
        environment: Vec<(String, String)>,
        admin: SocketAddr,
        log: PathBuf,
    ) -> Self {
        Self { name, program, environment, admin, log, child: None }
    }

    /// Where its admin port is.
    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// Its process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref()?.id()
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not become ready in time; with the tail of its log.
    pub async fn start(&mut self, client: &Client) -> anyhow::Result<()> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let child = Command::new(&self.program)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn();
        let started = child.with_context(|| format!("cannot start {}", self.program.display()))?;
        self.child = Some(started);
        let until = Instant::now() + READY_WITHIN;
        while !self.is_ready(client).await {
            self.check()?;
            if Instant::now() >= until {
                bail!("{} is not ready after {READY_WITHIN:?}{}", self.name, self.tail());
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Checks that it has not ended by itself.
    ///
    /// # Errors
    /// When it has; with the tail of its log.
    pub fn check(&mut self) -> anyhow::Result<()> {
        let ended = match self.child.as_mut() {
            Some(child) => child.try_wait()?,
            None => None,
        };
        match ended {
            Some(status) => {
                self.child = None;
                bail!("{} ended by itself: {status}{}", self.name, self.tail())
            }
            None => Ok(()),
        }
    }

    /// Kills it as a power cut would.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await.with_context(|| format!("cannot kill {}", self.name))?;
        }
        Ok(())
    }

    /// Asks it to drain and end; kills it when it does not. Returns a complaint when it did not end well.
    pub async fn stop(&mut self) -> Option<String> {
        let mut child = self.child.take()?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(pid) = pid
            && let Err(error) = kill_process(pid, Signal::TERM)
        {
            return Some(format!("{} could not be asked to stop: {error}", self.name));
        }
        match timeout(STOP_WITHIN, child.wait()).await {
            Ok(Ok(status)) => self.complain(status),
            Ok(Err(error)) => Some(format!("{}: {error}", self.name)),
            Err(_) => {
                let killed = child.kill().await.err();
                let killed = killed.map_or_else(|| "killed".to_owned(), |e| e.to_string());
                Some(format!("{} did not stop within {STOP_WITHIN:?}: {killed}", self.name))
            }
        }
    }

    fn complain(&self, status: ExitStatus) -> Option<String> {
        (!status.success()).then(|| format!("{} ended with {status}", self.name))
    }

    async fn is_ready(&self, client: &Client) -> bool {
        let url = format!("http://{}/readyz", self.admin);
        let answer = client.get(url).timeout(Duration::from_secs(2)).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// The last lines of its log, to stand behind an error.
    fn tail(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let tail = &lines[lines.len().saturating_sub(TAIL_LINES)..];
        format!("; {} ends with:\n{}", self.log.display(), tail.join("\n"))
    }
}
