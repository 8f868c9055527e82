//! Starts the reconciler.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run(reconciler::DAEMON, reconciler::run)
}
