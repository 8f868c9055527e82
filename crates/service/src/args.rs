//! The command line that all daemons have.

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser};

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
}

impl Args {
    /// Reads the process's arguments; prints help or version and exits where these are asked for.
    pub fn parse_for(name: &'static str, about: &'static str, version: &'static str) -> Self {
        let matches = Self::command().name(name).about(about).version(version).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}
