//! The operator's command line: migrates, checks, shows what is going on and puts things right.
//!
//! Reads and writes only through `db`; never calls a daemon. One file a subcommand in `command`, each of which
//! makes a report that is printed as text for people or, with `--json`, as JSON with stable names.
//! Neither secrets nor bodies are ever printed unless `explain --body` asks for a body.

mod cli;
mod command;
mod failure;
mod report;
mod session;
mod since;
mod table;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{cli::Cli, failure::BadInput};

const EXIT_BAD_INPUT: u8 = 2;

/// Runs the process from its command line to its exit code.
///
/// 0: done, nothing wrong. 1: failed, or found trouble. 2: bad configuration or arguments.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(cli.run()));
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ordem: {}", words::harmless(&failure::told(&error)));
            if error.is::<BadInput>() { ExitCode::from(EXIT_BAD_INPUT) } else { ExitCode::FAILURE }
        }
    }
}
