//! What a subcommand has to say, and how it is printed.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use serde::Serialize;

use crate::words::harmless;

/// The answer of one subcommand. Its field names are what scripts rely on.
pub(crate) trait Report: Serialize {
    /// For people; lines end with a line feed.
    fn text(&self) -> String;

    /// Whether the process should end with 1.
    fn is_trouble(&self) -> bool {
        false
    }
}

/// Prints the report on standard output and tells the exit code.
pub(crate) fn print(report: &impl Report, json: bool) -> anyhow::Result<ExitCode> {
    let text = if json { serde_json::to_string_pretty(report)? + "\n" } else { harmless(&report.text()) };
    let written = io::stdout().lock().write_all(text.as_bytes());
    match written {
        // The reader (a pager, `head`) has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(if report.is_trouble() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
