//! The command line.

mod demo;
mod ledger;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// A simulated store and fulfilment system for Ordem: demo, tests and load.
#[derive(Debug, Parser)]
#[command(name = "sandbox", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the store's API and the fulfilment system, and send webhooks.
    Serve(serve::Arguments),
    /// Compare Ordem's views with the truth of a served sandbox; exit 1 when anything differs.
    Ledger(ledger::Arguments),
    /// Run the four daemons against the sandbox, kill each on the way, and compare; exit 1 when anything differs.
    Demo(demo::Arguments),
}

/// Runs what the command line asks for.
pub async fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Serve(arguments) => {
            log("info");
            serve::run(arguments).await
        }
        Command::Ledger(arguments) => {
            log("warn");
            ledger::run(arguments).await
        }
        Command::Demo(arguments) => {
            log("error");
            demo::run(arguments).await
        }
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("sandbox: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn log(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
