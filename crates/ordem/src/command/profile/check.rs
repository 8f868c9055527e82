//! `ordem profile check`: every fault of a profile, and its weak spots.

use std::{fmt::Write as _, path::Path};

use profile::Profile;
use serde::Serialize;
use service::settings::Configured;

use super::line;
use crate::{report::Report, words};

/// Check profiles, and list each fault with file, key, line and reason
///
/// Where there is a configuration, their kinds and statuses are compared with its flows. Exit code 1 when there is
/// any fault.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Checked {
    ok: bool,
    faults: Vec<Found>,
    warnings: Vec<String>,
}

/// One fault.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    file: String,
    key: String,
    /// Null where the file as a whole is meant, or the reason names the line.
    line: Option<usize>,
    reason: String,
}

impl Args {
    /// Checks.
    pub(crate) fn run(&self, dir: &Path) -> Checked {
        let mut checked = Checked::default();
        let configured = if dir.is_dir() { Configured::load(dir) } else { Err(Vec::new()) };
        if configured.is_err() {
            let why = if dir.is_dir() { "has faults (see `ordem check`)" } else { "is not there" };
            checked.warnings.push(format!(
                "kinds and statuses were not compared with any flow: the configuration in {} {why}",
                dir.display()
            ));
        }
        for file in &self.files {
            match std::fs::read_to_string(file) {
                Ok(text) => checked.look_at(file, &text, configured.as_ref().ok()),
                Err(error) => checked.add(file, "", None, error.to_string()),
            }
        }
        checked.ok = checked.faults.is_empty();
        checked
    }
}

impl Checked {
    fn add(&mut self, file: &str, key: &str, line: Option<usize>, reason: String) {
        self.faults.push(Found { file: file.to_owned(), key: key.to_owned(), line, reason });
    }

    fn look_at(&mut self, file: &str, text: &str, configured: Option<&Configured>) {
        match Profile::parse(file, text) {
            Ok(profile) => {
                if let Some(configured) = configured {
                    self.compare_with_flows(file, text, &profile, configured);
                }
                self.warnings.extend(weak_spots(&profile, text).map(|spot| format!("{file}: {spot}")));
            }
            Err(faults) => self.faults.extend(found(text, faults)),
        }
    }

    fn compare_with_flows(&mut self, file: &str, text: &str, profile: &Profile, configured: &Configured) {
        for (kind, status) in profile.statuses() {
            let (word, reason) = match configured.flow(kind) {
                None if kind.is_empty() => (kind, "the kind is empty".to_owned()),
                None => (kind, format!("no flow for its kind \"{kind}\": add [flows.{kind}]")),
                Some(flow) if flow.rank(status).is_none() => {
                    let known = flow.statuses().join(", ");
                    (status, format!("\"{status}\" is no status of flows.{kind} (it has: {known})"))
                }
                Some(_) => continue,
            };
            if !self.faults.iter().any(|fault| fault.file == file && fault.reason == reason) {
                let place = line::of_value(text, word);
                let (key, line) = place.map_or((String::new(), None), |(key, line)| (key, Some(line)));
                self.add(file, &key, line, reason);
            }
        }
    }
}

/// The faults of a file with the lines that they do not name themselves.
pub(crate) fn found(text: &str, faults: Vec<profile::Fault>) -> impl Iterator<Item = Found> {
    faults.into_iter().map(|fault| Found {
        line: line::of(text, &fault.key).filter(|_| !fault.reason.starts_with("line ")),
        file: fault.file,
        key: fault.key,
        reason: fault.reason,
    })
}

impl Found {
    /// On one line, for people.
    pub(crate) fn told(&self) -> String {
        let line = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        format!("fault: {}: {key}{line}{}", self.file, self.reason)
    }
}

/// What is legal and leaves less than there could be.
fn weak_spots(profile: &Profile, text: &str) -> impl Iterator<Item = &'static str> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let verify = table.get("verify");
    let kind = verify.and_then(|verify| verify.get("kind")).and_then(toml::Value::as_str).unwrap_or_default();
    let signs_time =
        kind == "standard-webhooks" || verify.is_some_and(|verify| verify.get("timestamp").is_some());
    let keyless = table
        .get("dedup")
        .and_then(|dedup| dedup.get("keys"))
        .and_then(toml::Value::as_array)
        .is_none_or(Vec::is_empty);
    [
        (matches!(kind, "token" | "bearer" | "basic"), "verify: the secret itself is sent, and no body is signed: whoever sees one request can make others"),
        (!signs_time, "verify: no time is signed, so an old request can be sent again: dedup and version must make that harmless"),
        (keyless, "dedup: without keys an event is known by the digest of its body alone"),
        (profile.api().is_none(), "api: is missing, so what the webhooks miss is never found"),
        (profile.weaknesses().is_empty(), "weaknesses: is empty: say what the provider leaves weak"),
    ]
    .into_iter()
    .filter_map(|(is_weak, spot)| is_weak.then_some(spot))
}

impl Report for Checked {
    fn text(&self) -> String {
        let mut text = String::new();
        for fault in &self.faults {
            let _ = writeln!(text, "{}", fault.told());
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        let faults = if self.ok { "no fault".to_owned() } else { words::count(self.faults.len(), "fault") };
        text + &format!("{faults}, {}\n", words::count(self.warnings.len(), "warning"))
    }

    fn is_trouble(&self) -> bool {
        !self.ok
    }
}
