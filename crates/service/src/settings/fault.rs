//! What is wrong in the configuration.

use std::fmt;

/// One fault: where it stands, which key, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A file, `environment`, or `defaults`.
    pub file: String,
    /// The dotted key.
    pub key: String,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            write!(f, "{}: {}", self.file, self.reason)
        } else {
            write!(f, "{}: {}: {}", self.file, self.key, self.reason)
        }
    }
}
