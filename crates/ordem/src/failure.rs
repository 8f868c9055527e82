//! Failures that are the caller's to mend.

use service::settings::Fault;

/// Bad configuration or arguments: nothing was done. Ends the process with exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadInput(String);

impl BadInput {
    /// A failure with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// All faults of the configuration, one a line.
    pub(crate) fn faults(faults: &[Fault]) -> Self {
        let lines: Vec<String> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
        Self(format!("bad configuration, nothing was done:{}", lines.concat()))
    }
}

/// The failure with its causes, outermost first. An error of `db` tells its own cause.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        parts.push(cause.to_string());
        if cause.is::<db::Error>() {
            break;
        }
    }
    parts.join(": ")
}
