//! A real `nats-server` with `JetStream`, as its own process.

use std::{
    io::Read,
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{daemon::free_port, packages};

/// The server. Dropping it ends it.
#[derive(Debug)]
pub struct NatsServer {
    folder: TempDir,
    port: u16,
    more: Vec<String>,
    child: Child,
}

impl NatsServer {
    /// Starts one that takes anybody.
    ///
    /// # Errors
    /// Why it cannot be had, and what to install.
    pub fn start() -> Result<Self, String> {
        Self::start_with(&[])
    }

    /// One with more arguments, such as `--user`.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn start_with(more: &[&str]) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let port = free_port();
        let more: Vec<String> = more.iter().map(|argument| (*argument).to_owned()).collect();
        let child = spawn(&folder, port, &more)?;
        Ok(Self { folder, port, more, child })
    }

    /// Where it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Ends it at once; what it acknowledged is on its disk.
    pub fn kill(&mut self) {
        let _gone_either_way = self.child.kill();
        let _reaped = self.child.wait();
    }

    /// Starts it again on the same port, with the streams it had.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&mut self) {
        self.kill();
        self.child = spawn(&self.folder, self.port, &self.more).expect("a nats-server");
    }

    /// Holds it, connections and all, or lets it go on.
    ///
    /// # Panics
    /// When the signal cannot be sent.
    pub fn hold(&self, held: bool) {
        hold(self.child.id(), held);
    }

    /// Holds it for so long, from now on.
    ///
    /// # Panics
    /// When the signal cannot be sent.
    pub fn hold_for(&self, time: Duration) {
        let process = self.child.id();
        hold(process, true);
        std::thread::spawn(move || {
            std::thread::sleep(time);
            hold(process, false);
        });
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn hold(process: u32, held: bool) {
    let signal = if held { "-STOP" } else { "-CONT" };
    let sent = Command::new("kill").arg(signal).arg(process.to_string()).status();
    assert!(sent.is_ok_and(|status| status.success()), "signal {signal} not sent");
}

fn spawn(folder: &TempDir, port: u16, more: &[String]) -> Result<Child, String> {
    let child = Command::new(program()?)
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(folder.path())
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("nats-server: {error}"))?;
    greeted(port).map(|()| child)
}

/// The server greets each connection when it is ready.
fn greeted(port: u16) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        let greeting = TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            let mut start = [0; 4];
            stream.read_exact(&mut start).map(|()| start)
        });
        if greeting.is_ok_and(|start| &start == b"INFO") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("nats-server did not start in time".to_owned())
}

/// The one of this machine, else Debian's, unpacked under the target folder without installing it.
fn program() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/bin".into()]);
    if let Some(found) = folders.map(|dir| dir.join("nats-server")).find(|path| path.is_file()) {
        return Ok(found);
    }
    let unpacked = packages::installed("nats-server", "Debian's nats-server", |dir| {
        std::fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        packages::run(Command::new("apt-get").args(["download", "-q", "nats-server"]).current_dir(dir))?;
        let package = std::fs::read_dir(dir)
            .map_err(|error| error.to_string())?
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .ok_or("apt-get downloaded nothing")?;
        packages::run(Command::new("dpkg").arg("-x").arg(package).arg(dir))
    });
    let unpacked = unpacked
        .map_err(|why| format!("{why}; install nats-server (Debian: apt-get install nats-server)"))?;
    ["usr/sbin/nats-server", "usr/bin/nats-server"]
        .iter()
        .map(|path| unpacked.join(path))
        .find(|path| path.is_file())
        .ok_or_else(|| "Debian's package has no nats-server".to_owned())
}
