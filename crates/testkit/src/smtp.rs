//! A real mail server (`aiosmtpd`), as its own process, that answers as a test asks.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{daemon::free_port, packages};

const REQUIREMENTS: &str = "aiosmtpd==1.4.6\n";

/// What the server answers to the mails that come.
#[derive(Debug, Clone, Default)]
pub struct MailMood {
    /// Instead of 250 to `MAIL FROM`.
    pub mail: Option<&'static str>,
    /// Instead of 250 to `RCPT TO`.
    pub rcpt: Option<&'static str>,
    /// Instead of 250 to the mail, which is then not taken.
    pub data: Option<&'static str>,
    /// How long after the mail it answers.
    pub delay: Duration,
}

/// A mail as it arrived.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The sender of the envelope.
    pub from: String,
    /// The recipients of the envelope.
    pub to: Vec<String>,
    /// Whether it came by TLS.
    pub is_secret: bool,
    /// Head and text.
    pub raw: String,
}

impl Mail {
    /// The value of a header that stands on one line.
    pub fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{}: ", name.to_lowercase());
        let head = self.raw.lines().take_while(|line| !line.is_empty());
        head.filter(|line| line.to_lowercase().starts_with(&start)).map(|line| &line[start.len()..]).next()
    }

    /// What its `Message-ID` says before the domain.
    pub fn id(&self) -> &str {
        let id = self.header("message-id").unwrap_or_default();
        id.trim_start_matches('<').split('@').next().unwrap_or_default()
    }
}

/// The server. Dropping it ends it.
#[derive(Debug)]
pub struct SmtpServer {
    folder: TempDir,
    port: u16,
    tls: Option<[String; 2]>,
    child: Child,
}

impl SmtpServer {
    /// Starts one that takes all mails.
    ///
    /// # Errors
    /// Why it cannot be had: no Python, no registry.
    pub fn start() -> Result<Self, String> {
        Self::start_with(None, None)
    }

    /// One that speaks TLS with this certificate and key, and asks for this user and password.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn start_with(tls: Option<[String; 2]>, login: Option<&str>) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if let Some(login) = login {
            fs::write(folder.path().join("login"), login).map_err(|error| error.to_string())?;
        }
        put_mood(&folder, &MailMood::default())?;
        let port = free_port();
        let child = spawn(&folder, port, tls.as_ref())?;
        Ok(Self { folder, port, tls, child })
    }

    /// Where it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// From now on it answers so.
    ///
    /// # Panics
    /// When that cannot be written down.
    pub fn set(&self, mood: &MailMood) {
        put_mood(&self.folder, mood).expect("a mood");
    }

    /// The mails that arrived, in their order, again and again where they came again.
    ///
    /// # Panics
    /// When what it wrote cannot be read.
    pub fn mails(&self) -> Vec<Mail> {
        let text = fs::read_to_string(self.folder.path().join("mails")).unwrap_or_default();
        // A line that is being written is not there yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| mail(&serde_json::from_str(line).expect("a mail"))).collect()
    }

    /// Ends it at once; its port refuses.
    pub fn kill(&mut self) {
        let _gone_either_way = self.child.kill();
        let _reaped = self.child.wait();
    }

    /// Starts it again on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&mut self) {
        self.kill();
        self.child = spawn(&self.folder, self.port, self.tls.as_ref()).expect("a mail server");
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn put_mood(folder: &TempDir, mood: &MailMood) -> Result<(), String> {
    let text =
        json!({"mail": mood.mail, "rcpt": mood.rcpt, "data": mood.data, "delay": mood.delay.as_secs_f64()});
    packages::written(folder.path(), "mood", &text.to_string()).map(drop)
}

fn mail(line: &Value) -> Mail {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Mail {
        from: text(&line["from"]),
        to: line["to"].as_array().into_iter().flatten().map(text).collect(),
        is_secret: line["tls"] == true,
        raw: text(&line["raw"]),
    }
}

fn spawn(folder: &TempDir, port: u16, tls: Option<&[String; 2]>) -> Result<Child, String> {
    let environment = packages::python_environment("smtp-server", REQUIREMENTS)?;
    let script = packages::written(&environment, "smtp_server.py", include_str!("smtp_server.py"))?;
    let mut child = Command::new(environment.join("bin/python3"))
        .arg(script)
        .arg(folder.path())
        .arg(port.to_string())
        .args(tls.into_iter().flatten())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // Its one line, or the end of its output when it could not start.
    let mut line = String::new();
    let out = child.stdout.take().ok_or("no output")?;
    BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
    if line.trim() == "ready" { Ok(child) } else { Err("the mail server did not start".to_owned()) }
}
