//! Starts the applier.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run(applier::DAEMON, applier::run)
}
