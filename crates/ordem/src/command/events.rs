//! `ordem events`: a list from the view `ordem.events`.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use db::operations::{self, ListedEvent};
use serde::Serialize;

use crate::{
    report::Report,
    session::Session,
    since::{self, Since},
    table::table,
    words::{instant, or_dash},
};

/// What the view can say, besides `pending`.
const OUTCOMES: [&str; 9] = [
    "pending",
    "applied",
    "stale",
    "terminal_regression",
    "ignored",
    "test",
    "malformed",
    "fetching",
    "dead",
];

/// List events, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those of this source.
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only those with this outcome.
    #[arg(long, value_name = "OUTCOME", value_parser = PossibleValuesParser::new(OUTCOMES))]
    outcome: Option<String>,
    /// Only those that came since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", default_value = "24h", value_parser = since::since)]
    since: Since,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
}

/// The list.
#[derive(Debug, Serialize)]
pub(crate) struct Events {
    events: Vec<ListedEvent>,
}

impl Args {
    /// Asks.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Events> {
        let session = Session::prepare(dir)?;
        let client = session.client().await?;
        let from = self.since.first_id(session.now);
        let (source, outcome) = (self.source.as_deref(), self.outcome.as_deref());
        Ok(Events { events: operations::list_events(&client, from, source, outcome, self.limit).await? })
    }
}

impl Report for Events {
    fn text(&self) -> String {
        if self.events.is_empty() {
            return "no events\n".to_owned();
        }
        let rows = self.events.iter().map(|event| {
            vec![
                instant(event.received_at),
                event.source.clone(),
                or_dash(event.event_type.as_deref()),
                or_dash(event.resource_id.as_deref()),
                event.origin.clone(),
                event.outcome.clone(),
                event.attempts.to_string(),
                event.event_id.to_string(),
                or_dash(event.last_error.as_deref()),
            ]
        });
        let headings =
            ["received", "source", "type", "resource", "origin", "outcome", "attempts", "event id", "reason"];
        table(&headings, rows)
    }
}
