//! `ordem replay`: events that were set aside go back into the queue.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use db::{
    Client,
    operations::{self, EventState, REPLAYABLE},
};
use serde::Serialize;
use uuid::Uuid;

use super::moved::{self, Batch, Batches, How, Moved, Row, Skipped, after, distinct, missing};
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
    /// Only those that came before: how long ago or an instant.
    #[arg(long, value_name = "WHEN", requires = "source", value_parser = since::since)]
    until: Option<Since>,
    #[command(flatten)]
    how: How,
}

/// An event to be replayed.
#[derive(Debug, Serialize)]
pub(crate) struct Chosen {
    event_id: Uuid,
    source: String,
    /// The outcome it had.
    outcome: String,
}

struct Replay<'a> {
    client: Client,
    which: Which<'a>,
}

enum Which<'a> {
    Named(Vec<Uuid>),
    Of { source: &'a str, outcomes: Vec<&'a str>, first: Uuid, below: Uuid },
}

impl Args {
    /// Replays.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Moved<Chosen>> {
        let session = Session::prepare(dir)?;
        let which = match &self.source {
            Some(source) => Which::Of {
                source,
                outcomes: self.outcomes()?,
                first: self.since.map_or(Uuid::nil(), |since| since.first_id(session.now)),
                below: self.until.map_or(Uuid::max(), |until| until.first_id(session.now)),
            },
            None => Which::Named(distinct(&self.event)),
        };
        let mut replay = Replay { client: session.client().await?, which };
        moved::run(&mut replay, self.how).await
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
}

impl Batches for Replay<'_> {
    type Item = Chosen;
    const VERB: &'static str = "replayed";

    async fn find(&mut self, last: Uuid, limit: usize) -> anyhow::Result<Vec<Uuid>> {
        match &self.which {
            Which::Named(ids) => Ok(after(ids, last, limit)),
            Which::Of { source, outcomes, first, below } => {
                let (ids, limit) = ((last.max(*first), *below), i64::try_from(limit)?);
                Ok(operations::set_aside(&self.client, source, outcomes, ids, limit).await?)
            }
        }
    }

    async fn judge(&mut self, ids: &[Uuid]) -> anyhow::Result<Batch<Chosen>> {
        let states = operations::states_of(&self.client, ids).await?;
        let mut skipped = missing(ids, states.iter().map(|state| state.event_id), "event");
        let mut chosen = Vec::new();
        for EventState { event_id, source, outcome } in states {
            match refusal(&outcome) {
                Some(reason) => skipped.push(Skipped { id: event_id, reason }),
                None => chosen.push(Chosen { event_id, source, outcome }),
            }
        }
        Ok(Batch { chosen, skipped })
    }

    async fn apply(&mut self, chosen: &[Chosen]) -> db::Result<Vec<Uuid>> {
        let ids: Vec<Uuid> = chosen.iter().map(|event| event.event_id).collect();
        operations::replay(&self.client, &ids).await
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

    fn id(&self) -> Uuid {
        self.event_id
    }
}
