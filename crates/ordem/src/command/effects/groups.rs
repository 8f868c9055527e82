//! `ordem effects groups`: what failed, by cause.

use std::path::Path;

use db::operations::{self, FailureGroup};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    report::Report,
    session::Session,
    since::{self, Since},
    table::table,
    words::{instant_or_dash, or_dash},
};

/// List what effects failed with, by destination and cause, the largest group first
///
/// Effects whose last errors differ only in ids, numbers, times, addresses or quoted texts are one group. Its name stays
/// the same and goes with `ordem effects retry --group` and `discard --group`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those to this destination.
    #[arg(long, value_name = "DESTINATION")]
    destination: Option<String>,
    /// Only effects written since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", value_parser = since::since)]
    since: Option<Since>,
    /// How many groups at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
}

/// The list.
#[derive(Debug, Serialize)]
pub(crate) struct Groups {
    groups: Vec<FailureGroup>,
}

impl Args {
    /// Asks.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Groups> {
        let session = Session::prepare(dir)?;
        let client = session.client().await?;
        let from = self.since.map_or_else(Uuid::nil, |since| since.first_id(session.now));
        let destination = self.destination.as_deref();
        Ok(Groups { groups: operations::failure_groups(&client, from, destination, self.limit).await? })
    }
}

impl Report for Groups {
    fn text(&self) -> String {
        if self.groups.is_empty() {
            return "no failures\n".to_owned();
        }
        text(&self.groups)
    }
}

/// The table of groups.
pub(crate) fn text(groups: &[FailureGroup]) -> String {
    let rows = groups.iter().map(|group| {
        vec![
            group.group.clone(),
            group.destination.clone(),
            group.state.clone(),
            group.effects.to_string(),
            instant_or_dash(group.first_at),
            instant_or_dash(group.last_at),
            or_dash(group.sample.as_deref()),
        ]
    });
    table(&["group", "destination", "state", "effects", "first written", "last written", "for example"], rows)
}
