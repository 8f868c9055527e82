//! The command line: global options and the way to each subcommand.

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::{command, report};

/// Operate Ordem: migrate, check, look, and put things right.
///
/// Exit codes: 0 done and nothing wrong, 1 failed or found trouble, 2 bad configuration or arguments.
#[derive(Debug, Parser)]
#[command(name = "ordem", version)]
pub(crate) struct Cli {
    /// Folder with the configuration (*.toml). What it leaves out keeps its default.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "ORDEM_CONFIG",
        hide_env_values = true,
        display_order = 900,
        default_value = "config"
    )]
    config: PathBuf,
    /// Print JSON with stable field names instead of text.
    #[arg(long, global = true, display_order = 901)]
    json: bool,
    /// The same as `ordem check --offline`.
    #[arg(long)]
    check: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Migrate(command::migrate::Args),
    Check(command::check::Args),
    Status(command::status::Args),
    Explain(command::explain::Args),
    Events(command::events::Args),
    Effects(command::effects::Args),
    Replay(command::replay::Args),
    /// The same as `ordem effects retry`
    #[command(long_about = None)]
    Requeue(command::effects::retry::Args),
    /// The same as `ordem effects discard`
    #[command(long_about = None)]
    Discard(command::effects::discard::Args),
    Pause(command::pause::PauseArgs),
    Resume(command::pause::ResumeArgs),
    Ledger(command::ledger::Args),
    Refused(command::refused::Args),
    Backfill(command::backfill::Args),
    Profile(command::profile::Args),
    Sign(command::sign::Args),
    Send(command::send::Args),
}

impl Cli {
    /// Does what was asked.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let (dir, json) = (self.config.as_path(), self.json);
        let Some(command) = self.command else {
            if self.check {
                return report::print(&command::check::offline(dir), json);
            }
            Self::command().print_help()?;
            return Ok(ExitCode::from(crate::EXIT_BAD_INPUT));
        };
        match command {
            Command::Migrate(args) => report::print(&args.run(dir).await?, json),
            Command::Check(args) => report::print(&args.run(dir).await, json),
            Command::Status(args) => report::print(&args.run(dir).await?, json),
            Command::Explain(args) => report::print(&args.run(dir).await?, json),
            Command::Events(args) => report::print(&args.run(dir).await?, json),
            Command::Effects(args) => args.run(dir, json).await,
            Command::Replay(args) => report::print(&args.run(dir).await?, json),
            Command::Requeue(args) => report::print(&args.run(dir).await?, json),
            Command::Discard(args) => report::print(&args.run(dir).await?, json),
            Command::Pause(args) => report::print(&args.run(dir).await?, json),
            Command::Resume(args) => report::print(&args.run(dir).await?, json),
            Command::Ledger(args) => report::print(&args.run(dir).await?, json),
            Command::Refused(args) => args.run(dir, json).await,
            Command::Backfill(args) => args.run(dir, json).await,
            Command::Profile(args) => args.run(dir, json),
            Command::Sign(args) => report::print(&args.run(dir)?, json),
            Command::Send(args) => report::print(&args.run(dir).await?, json),
        }
    }
}
