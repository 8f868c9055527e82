//! `ordem pause` and `ordem resume`: hold a destination, and let it go on.

use std::path::Path;

use db::operations;
use jiff::Timestamp;
use serde::Serialize;

use crate::{failure::BadInput, report::Report, session::Session, words::instant};

/// Hold a destination: its effects wait, whatever publishers run; others flow
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    /// Its name in the configuration.
    destination: String,
    /// Why: shown by `ordem status`.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Let a paused destination go on
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Its name.
    destination: String,
}

/// How the destination stands now.
#[derive(Debug, Serialize)]
pub(crate) struct Held {
    destination: String,
    /// Whether it is held now.
    paused: bool,
    /// Since when it is, or was, held; null if it was not.
    paused_at: Option<Timestamp>,
    reason: Option<String>,
}

impl PauseArgs {
    /// Pauses.
    pub(crate) async fn run(self, dir: &Path) -> anyhow::Result<Held> {
        let session = Session::prepare(dir)?;
        let Self { destination, reason } = self;
        let known = &session.configured.settings.destinations;
        if !known.contains_key(&destination) {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let names = names.join(", ");
            return Err(
                BadInput::new(format!("no destination \"{destination}\" (there are: {names})")).into()
            );
        }
        let client = session.client().await?;
        let paused = operations::pause(&client, session.now, &destination, reason.as_deref()).await?;
        Ok(Held { destination, paused: true, paused_at: Some(paused.paused_at), reason: paused.reason })
    }
}

impl ResumeArgs {
    /// Resumes. A destination that is no longer configured can be resumed as well.
    pub(crate) async fn run(self, dir: &Path) -> anyhow::Result<Held> {
        let session = Session::prepare(dir)?;
        let client = session.client().await?;
        let paused_at = operations::resume(&client, &self.destination).await?;
        Ok(Held { destination: self.destination, paused: false, paused_at, reason: None })
    }
}

impl Report for Held {
    fn text(&self) -> String {
        let name = &self.destination;
        match (self.paused, self.paused_at) {
            (true, at) => {
                let since = at.map_or_else(String::new, |at| format!(" since {}", instant(at)));
                format!("{name} is paused{since}: calls in flight end, then its effects wait\n")
            }
            (false, Some(at)) => format!("{name} goes on; it was paused since {}\n", instant(at)),
            (false, None) => format!("{name} was not paused\n"),
        }
    }
}
