//! The command line: global options and the way to each subcommand.

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::{command, report};

/// Operate Ordem: migrate, check, look, and put things right.
///
/// Exit codes: 0 done and nothing wrong, 1 failed or found trouble, 2 bad configuration or arguments.
#[derive(Debug, Parser)]
#[command(name = "ordem", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Folder with the configuration (*.toml). What it leaves out keeps its default.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "ORDEM_CONFIG",
        hide_env_values = true,
        default_value = "config"
    )]
    config: PathBuf,
    /// Print JSON with stable field names instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// The same as `ordem check --offline`.
    #[arg(long, exclusive = false)]
    check: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Migrate(command::migrate::Args),
    Check(command::check::Args),
}

impl Cli {
    /// Does what was asked.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let (dir, json) = (&self.config, self.json);
        match self.command {
            None if self.check => report::print(&command::check::offline(dir), json),
            None => {
                Self::command().print_help()?;
                Ok(ExitCode::from(crate::EXIT_BAD_INPUT))
            }
            Some(Command::Migrate(args)) => report::print(&args.run(dir).await?, json),
            Some(Command::Check(args)) => report::print(&args.run(dir).await, json),
        }
    }
}
