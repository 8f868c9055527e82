//! `ordem effects list`, also `ordem effects`: a list from the view `ordem.effects`.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use db::operations::{self, ListedEffect};
use serde::Serialize;

use crate::{
    report::Report,
    session::Session,
    since::{self, Since},
    table::table,
    words::{instant, instant_or_dash, or_dash},
};

const STATES: [&str; 4] = ["pending", "delivered", "dead", "discarded"];

/// List effects, newest first
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Only those to this destination.
    #[arg(long, value_name = "DESTINATION")]
    destination: Option<String>,
    /// Only those in this state.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(STATES))]
    state: Option<String>,
    /// Only those written since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", default_value = "24h", value_parser = since::since)]
    since: Since,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
}

/// The list.
#[derive(Debug, Serialize)]
pub(crate) struct Effects {
    effects: Vec<ListedEffect>,
}

impl Args {
    /// Asks.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Effects> {
        let session = Session::prepare(dir)?;
        let client = session.client().await?;
        let from = self.since.first_id(session.now);
        let (destination, state) = (self.destination.as_deref(), self.state.as_deref());
        Ok(Effects {
            effects: operations::list_effects(&client, from, destination, state, self.limit).await?,
        })
    }
}

impl Report for Effects {
    fn text(&self) -> String {
        if self.effects.is_empty() {
            return "no effects\n".to_owned();
        }
        let rows = self.effects.iter().map(|effect| {
            vec![
                instant(effect.created_at),
                effect.source.clone(),
                effect.resource_id.clone(),
                effect.effect.clone(),
                effect.destination.clone(),
                effect.state.clone(),
                effect.attempts.to_string(),
                instant_or_dash(effect.delivered_at),
                effect.effect_id.to_string(),
                or_dash(effect.last_error.as_deref()),
            ]
        });
        let headings = [
            "created",
            "source",
            "resource",
            "effect",
            "destination",
            "state",
            "attempts",
            "delivered",
            "effect id",
            "last error",
        ];
        table(&headings, rows)
    }
}
