//! `ordem refused`: the kept samples of refused requests, and another look at them with the secrets now in force.

mod reverify;

use std::{path::Path, process::ExitCode};

use db::operations::{self, ListedRefusal};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    report::{self, Report},
    session::Session,
    since::{self, Since},
    table::table,
    words::instant,
};

/// List the samples of requests whose signature was refused, or verify them again
///
/// At most one a second and a source is kept, and at most 64 KiB of its body. Bodies are never shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those that came to this source.
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only those that came since: how long ago (30m, 24h, 7d) or an instant.
    #[arg(long, value_name = "WHEN", value_parser = since::since)]
    since: Option<Since>,
    /// How many to list at most.
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with = "reverify", value_parser = clap::value_parser!(i64).range(1..=100_000))]
    limit: i64,
    /// Verify them with the secrets of this environment, as of the time they came; those that verify now enter the
    /// inbox, and their samples are deleted.
    #[arg(long)]
    reverify: bool,
    /// Show what would enter the inbox and change nothing.
    #[arg(long, requires = "reverify")]
    dry_run: bool,
}

/// The list.
#[derive(Debug, Serialize)]
struct Refused {
    refused: Vec<ListedRefusal>,
}

impl Args {
    /// Lists or verifies, and prints.
    pub(crate) async fn run(&self, dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
        let session = Session::prepare(dir)?;
        let mut client = session.client().await?;
        let from = self.since.map_or(Uuid::nil(), |since| since.first_id(session.now));
        let source = self.source.as_deref();
        if self.reverify {
            let wanted = reverify::Wanted { from, source, dry_run: self.dry_run };
            return report::print(&reverify::run(&session, &mut client, &wanted).await?, json);
        }
        let refused = operations::list_refused(&client, from, source, self.limit).await?;
        report::print(&Refused { refused }, json)
    }
}

impl Report for Refused {
    fn text(&self) -> String {
        if self.refused.is_empty() {
            return "no refused requests\n".to_owned();
        }
        let rows = self.refused.iter().map(|refusal| {
            vec![
                instant(refusal.refused_at),
                refusal.source.clone(),
                refusal.reason.clone(),
                refusal.body_bytes.to_string(),
                if refusal.is_whole { "yes" } else { "no" }.to_owned(),
                refusal.refusal_id.to_string(),
            ]
        });
        table(&["refused", "source", "reason", "bytes", "whole", "id"], rows)
    }
}
