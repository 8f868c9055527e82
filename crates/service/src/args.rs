//! The command line that all daemons have.

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::{Daemon, settings::Demand};

/// Arguments of a daemon.
#[derive(Debug, Clone, Parser)]
pub struct Args {
    /// Folder with the configuration (*.toml). What it leaves out keeps its default.
    #[arg(long, value_name = "DIR", env = "ORDEM_CONFIG", default_value = "config")]
    pub config: PathBuf,
    /// Validate everything, print each fault with file, key and reason, and exit: 0 without faults, else 1.
    #[arg(long)]
    pub check: bool,
    /// Ask the running daemon's admin port whether it is alive, and exit: 0 if it is, else 1.
    #[arg(long)]
    pub health: bool,
    /// Serve only these destinations (publisher.destinations): heavy ones get processes of their own.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide = true)]
    pub destinations: Vec<String>,
}

impl Args {
    /// Reads the process's arguments; prints help or version and exits where these are asked for.
    pub fn parse_for(daemon: &Daemon) -> Self {
        let serves = daemon.demand == Demand::Destinations;
        let mut command = Self::command()
            .name(daemon.name)
            .about(daemon.about)
            .version(daemon.version)
            .mut_arg("destinations", |argument| argument.hide(!serves));
        let matches = command.get_matches_mut();
        let args = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        if !serves && !args.destinations.is_empty() {
            let reason = "--destinations is for the publisher alone";
            command.error(clap::error::ErrorKind::UnknownArgument, reason).exit();
        }
        args
    }
}
