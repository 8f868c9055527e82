//! `ordem replay`: events that were set aside go back into the queue.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use db::{
    Client,
    operations::{self, EventState, REPLAYABLE},
};
use serde::Serialize;
use uuid::Uuid;

use super::moved::{Moved, Row, Skipped, distinct, missing};
use crate::{
    failure::BadInput,
    session::Session,
    since::{self, Since},
};

/// Put events that were set aside back into the queue: dead, malformed, ignored or test
///
/// They are read again with the configuration now in force, so mend the profile or the cause first.
/// Applying an event again is harmless: the row is the fold of the set of its facts.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["event", "source"])))]
pub(crate) struct Args {
    /// These events.
    #[arg(long, value_name = "ID", num_args = 1..)]
    event: Vec<Uuid>,
    /// Those of this source that are dead or malformed, the oldest first.
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only those with this outcome; `ignored` and `test` need --since as well.
    #[arg(long, value_name = "OUTCOME", requires = "source", value_parser = PossibleValuesParser::new(REPLAYABLE))]
    outcome: Option<String>,
    /// Only those that came since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", requires = "source", value_parser = since::since)]
    since: Option<Since>,
    /// How many at most.
    #[arg(long, value_name = "N", requires = "source", default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
    /// Show what would be replayed and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// An event to be replayed.
#[derive(Debug, Serialize)]
pub(crate) struct Chosen {
    event_id: Uuid,
    source: String,
    /// The outcome it had.
    outcome: String,
}

impl Args {
    /// Replays.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Moved<Chosen>> {
        let session = Session::prepare(dir)?;
        let wanted_outcomes = self.outcomes()?;
        let client = session.client().await?;
        let (ids, more) = match &self.source {
            Some(source) => self.find(&session, &client, source, &wanted_outcomes).await?,
            None => (distinct(&self.event), false),
        };
        let states = operations::states_of(&client, &ids).await?;
        let mut skipped = missing(&ids, states.iter().map(|state| state.event_id), "event");
        let mut chosen = Vec::new();
        for EventState { event_id, source, outcome } in states {
            match refusal(&outcome) {
                Some(reason) => skipped.push(Skipped { id: event_id, reason }),
                None => chosen.push(Chosen { event_id, source, outcome }),
            }
        }
        let ids: Vec<Uuid> = chosen.iter().map(|event| event.event_id).collect();
        let done = if self.dry_run || ids.is_empty() { 0 } else { operations::replay(&client, &ids).await? };
        Ok(Moved { dry_run: self.dry_run, chosen, skipped, done, more, verb: "replayed" })
    }

    fn outcomes(&self) -> anyhow::Result<Vec<&str>> {
        match self.outcome.as_deref() {
            None => Ok(vec!["dead", "malformed"]),
            // These are no trouble, so no index leads to them.
            Some(outcome @ ("ignored" | "test")) if self.since.is_none() => {
                Err(BadInput::new(format!("--outcome {outcome} needs --since: there may be very many"))
                    .into())
            }
            Some(outcome) => Ok(vec![outcome]),
        }
    }

    async fn find(
        &self,
        session: &Session,
        client: &Client,
        source: &str,
        outcomes: &[&str],
    ) -> anyhow::Result<(Vec<Uuid>, bool)> {
        let from = self.since.map_or(Uuid::nil(), |since| since.first_id(session.now));
        let mut ids = operations::set_aside(client, source, outcomes, from, self.limit + 1).await?;
        let limit = usize::try_from(self.limit)?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        Ok((ids, more))
    }
}

/// Why an event with this outcome stays where it is.
fn refusal(outcome: &str) -> Option<String> {
    match outcome {
        "pending" => Some("is waiting already".to_owned()),
        outcome if REPLAYABLE.contains(&outcome) => None,
        decided => Some(format!("was decided ({decided}): nothing is left to do")),
    }
}

impl Row for Chosen {
    const NOUN: &'static str = "event";
    const HEADINGS: &'static [&'static str] = &["event id", "source", "was"];

    fn cells(&self) -> Vec<String> {
        vec![self.event_id.to_string(), self.source.clone(), self.outcome.clone()]
    }
}
