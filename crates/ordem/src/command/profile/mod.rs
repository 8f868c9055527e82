//! `ordem profile`: for the person who adds a provider.

pub(crate) mod check;
pub(crate) mod new;
pub(crate) mod schema;
pub(crate) mod verify;

mod attempt;
mod line;

use std::{path::Path, process::ExitCode};

use clap::Subcommand;

use crate::report;

/// Write and test the description of a provider
///
/// Needs neither a database nor a configuration folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Try(Box<attempt::Args>),
    New(new::Args),
    Schema(schema::Args),
}

impl Args {
    /// Does what was asked.
    pub(crate) fn run(&self, dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
        match &self.command {
            Command::Check(args) => report::print(&args.run(dir), json),
            Command::Try(args) => report::print(&args.run(dir)?, json),
            Command::New(args) => report::print(&args.run()?, json),
            Command::Schema(args) => report::print(&args.run(), json),
        }
    }
}
