//! `ordem effects`: what is on its way, what failed, and what an operator does about it.

mod choice;
pub(crate) mod discard;
pub(crate) mod groups;
mod list;
pub(crate) mod retry;
mod show;

use std::{path::Path, process::ExitCode};

use clap::Subcommand;

use crate::report;

/// List effects, show one, group what failed, send again, give up for good
///
/// Without a subcommand: list.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Groups(groups::Args),
    Show(show::Args),
    Retry(retry::Args),
    Discard(discard::Args),
}

impl Args {
    /// Does what was asked.
    pub(crate) async fn run(&self, dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
        match &self.command {
            None => report::print(&self.list.run(dir).await?, json),
            Some(Command::List(args)) => report::print(&args.run(dir).await?, json),
            Some(Command::Groups(args)) => report::print(&args.run(dir).await?, json),
            Some(Command::Show(args)) => report::print(&args.run(dir).await?, json),
            Some(Command::Retry(args)) => report::print(&args.run(dir).await?, json),
            Some(Command::Discard(args)) => report::print(&args.run(dir).await?, json),
        }
    }
}
