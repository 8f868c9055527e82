//! Starts the publisher.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run(publisher::DAEMON, publisher::run)
}
