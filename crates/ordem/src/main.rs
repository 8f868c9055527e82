//! Starts the operator's command line.

fn main() -> std::process::ExitCode {
    ordem::run()
}
