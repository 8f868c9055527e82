//! Starts the receiver.

use std::process::ExitCode;

fn main() -> ExitCode {
    service::run(receiver::DAEMON, receiver::run)
}
