//! `ordem ledger check`: whether the books are right.

use std::{fmt::Write as _, path::Path};

use anyhow::Context as _;
use db::{
    ledger::{self, LedgerFault},
    outbox::FunctionName,
};
use serde::Serialize;
use service::settings::{Configured, LedgerSettings};

use crate::{failure::BadInput, report::Report, session::Session, words};

/// Most rows that are asked for, unless told otherwise.
const LIMIT: u32 = 1000;

/// Look after the books that effects are booked into
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// Ask the books what is wrong with them, and whether each effect is booked once
///
/// Reads `ledger.check` (a view or function of your own) and, where it is set, `ledger.booked`: each effect that was
/// delivered to a destination with `in_transaction` must be there exactly once. Exit code 1 when anything is wrong.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// Most faults that are listed.
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    /// Whether nothing is wrong.
    ok: bool,
    /// What was asked.
    asked: Vec<String>,
    faults: Vec<Found>,
    /// Whether there are more than are listed.
    more: bool,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
struct Found {
    problem: String,
    subject: String,
    detail: String,
}

impl Args {
    /// Checks.
    pub(crate) async fn run(&self, dir: &Path) -> anyhow::Result<Checked> {
        let Command::Check(CheckArgs { limit }) = &self.command;
        let session = Session::prepare(dir)?;
        let LedgerSettings { check, booked } = &session.configured.settings.ledger;
        if check.is_empty() && booked.is_empty() {
            let way_out =
                "ledger.check is not set: name the view of your own that tells what is wrong in the books";
            return Err(BadInput::new(way_out).into());
        }
        let client = session.client().await?;
        // One more than is listed tells that there are more.
        let most = i64::from(*limit) + 1;
        let mut faults = Vec::new();
        if let Some(view) = FunctionName::parse(check) {
            faults.extend(ledger::faults_told(&client, &view, most).await.with_context(|| check.clone())?);
        }
        if let Some(view) = FunctionName::parse(booked) {
            let direct = direct(&session.configured);
            let found = ledger::not_booked_once(&client, &view, &direct, most).await;
            faults.extend(found.with_context(|| booked.clone())?);
        }
        let listed = usize::try_from(*limit).unwrap_or(usize::MAX);
        let more = faults.len() > listed;
        faults.truncate(listed);
        let asked = [check, booked].into_iter().filter(|name| !name.is_empty()).cloned().collect();
        Ok(Checked {
            ok: faults.is_empty(),
            asked,
            faults: faults.into_iter().map(Found::from).collect(),
            more,
        })
    }
}

/// The destinations that the applier books itself.
fn direct(configured: &Configured) -> Vec<&str> {
    let all = configured.settings.destinations.iter();
    let direct = all.filter(|(_, destination)| destination.reach.in_transaction().is_some());
    direct.map(|(name, _)| name.as_str()).collect()
}

impl From<LedgerFault> for Found {
    fn from(LedgerFault { problem, subject, detail }: LedgerFault) -> Self {
        Self { problem, subject, detail }
    }
}

impl Report for Checked {
    fn text(&self) -> String {
        let mut text = String::new();
        for Found { problem, subject, detail } in &self.faults {
            let _ = writeln!(text, "{problem}: {subject}: {detail}");
        }
        let asked = self.asked.join(", ");
        let _ = match (self.faults.len(), self.more) {
            (0, _) => writeln!(text, "{asked}: the books are right"),
            (faults, true) => writeln!(text, "{asked}: {}, and more", words::count(faults, "fault")),
            (faults, false) => writeln!(text, "{asked}: {}", words::count(faults, "fault")),
        };
        text
    }

    fn is_trouble(&self) -> bool {
        !self.ok
    }
}
