//! Starts the sandbox.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    sandbox::cli::run().await
}
