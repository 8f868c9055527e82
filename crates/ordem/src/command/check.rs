//! `ordem check`: the whole configuration, then the database.

use std::{fmt::Write as _, path::Path};

use db::outbox::{self, FunctionName, FunctionState};
use serde::Serialize;
use service::settings::{Configured, Demand, Fault, Reach};

use crate::{report::Report, session::Session, words};

/// The key of what is wrong with the database itself.
const DATABASE: &str = "database.url";

/// Check the whole configuration and the database, and list each fault with file, key and reason
///
/// Exit code 1 when there is any fault. Warnings are listed and do no harm.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave the database out.
    #[arg(long)]
    offline: bool,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    /// Whether there is no fault.
    ok: bool,
    /// What is wrong.
    faults: Vec<Found>,
    /// What is legal but may not be meant.
    warnings: Vec<String>,
    /// Sources that are on in this environment.
    sources_on: Vec<String>,
    /// Destinations that are on in this environment.
    destinations_on: Vec<String>,
    /// The database; null when it was left out.
    database: Option<Database>,
}

/// One fault.
#[derive(Debug, Serialize)]
struct Found {
    /// A file, a variable, `defaults` or `database`.
    file: String,
    /// The dotted key; empty when the file as a whole is meant.
    key: String,
    /// What is wrong.
    reason: String,
}

/// How the database stands.
#[derive(Debug, Serialize)]
struct Database {
    /// Which one.
    place: String,
    /// Whether it answered.
    reachable: bool,
    /// The schema version this binary needs.
    schema_needed: i32,
}

impl Args {
    /// Checks.
    pub(crate) async fn run(&self, dir: &Path) -> Checked {
        let loaded = Configured::load_demanding(dir, Demand::Everything);
        if self.offline {
            return Checked::of(&loaded);
        }
        let mut checked = Checked::of(&loaded);
        // Without a valid configuration nobody knows which database is meant.
        if let Ok(configured) = loaded {
            checked.ask_database(configured).await;
        }
        checked
    }
}

/// `ordem --check`
pub(crate) fn offline(dir: &Path) -> Checked {
    Checked::of(&Configured::load_demanding(dir, Demand::Everything))
}

impl Checked {
    fn of(loaded: &Result<Configured, Vec<Fault>>) -> Self {
        let mut checked = Self {
            ok: loaded.is_ok(),
            faults: Vec::new(),
            warnings: Vec::new(),
            sources_on: Vec::new(),
            destinations_on: Vec::new(),
            database: None,
        };
        match loaded {
            Ok(configured) => {
                checked.warnings.clone_from(&configured.warnings);
                checked.sources_on = configured.sources.keys().cloned().collect();
                checked.destinations_on = configured.destinations.keys().cloned().collect();
            }
            Err(faults) => checked.faults = faults.iter().map(Found::from).collect(),
        }
        checked
    }

    fn add(&mut self, file: &str, key: &str, reason: impl Into<String>) {
        self.ok = false;
        self.faults.push(Found { file: file.to_owned(), key: key.to_owned(), reason: reason.into() });
    }

    async fn ask_database(&mut self, configured: Configured) {
        let session = match Session::with(configured, |_| {}) {
            Ok(session) => session,
            Err(error) => return self.add("configuration", DATABASE, format!("{error:#}")),
        };
        let asked = async {
            let client = session.dial().await?;
            let state = db::schema_state(&client).await?;
            Ok((client, state))
        };
        let answer: db::Result<_> = asked.await;
        let reachable = answer.is_ok();
        let current = answer.and_then(|(client, state)| state.require_current().map(|()| client));
        let looked = match current {
            Ok(client) => self.look_for_functions(&client, &session).await,
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            self.add(&session.place, DATABASE, error.to_string());
        }
        let schema_needed = db::newest_version();
        self.database = Some(Database { place: session.place, reachable, schema_needed });
    }
}

impl Checked {
    /// Whether the functions that effects go to are there, and those who call them may.
    async fn look_for_functions(&mut self, client: &db::Client, session: &Session) -> db::Result<()> {
        for (name, destination) in &session.configured.settings.destinations {
            let Reach::Sql(sql) = &destination.reach else { continue };
            let Some(function) = FunctionName::parse(&sql.function) else { continue };
            let role = if sql.in_transaction { "ordem_applier" } else { "ordem_publisher" };
            let reason = match outbox::function_state(client, &function, Some(role)).await? {
                FunctionState::Callable => continue,
                FunctionState::Missing => format!("there is no function {function}(jsonb)"),
                FunctionState::Forbidden { role } => format!(
                    "{role} may not execute {function}(jsonb): grant usage on its schema and execute on it"
                ),
            };
            self.add(&session.place, &format!("destinations.{name}.function"), reason);
        }
        Ok(())
    }
}

impl From<&Fault> for Found {
    fn from(fault: &Fault) -> Self {
        Self { file: fault.file.clone(), key: fault.key.clone(), reason: fault.reason.clone() }
    }
}

impl Report for Checked {
    fn text(&self) -> String {
        let mut text = String::new();
        for Found { file, key, reason } in &self.faults {
            let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
            let _ = writeln!(text, "fault: {file}: {key}{reason}");
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        if let Some(database) = self.database.as_ref().filter(|_| self.ok) {
            let _ = writeln!(text, "{}: schema version {}, current", database.place, database.schema_needed);
        }
        let _ = match self.faults.len() {
            0 => writeln!(text, "no fault, {}", words::count(self.warnings.len(), "warning")),
            faults => writeln!(text, "{}", words::count(faults, "fault")),
        };
        text
    }

    fn is_trouble(&self) -> bool {
        !self.ok
    }
}
