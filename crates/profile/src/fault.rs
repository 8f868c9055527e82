//! What is wrong in a profile's file, said so that its author finds it.

use std::fmt;

/// One fault: in which file, under which key, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file as the caller named it.
    pub file: String,
    /// The key, dotted; empty when the file as a whole cannot be read.
    pub key: String,
    /// What is wrong with the value.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            return write!(f, "{}: {}", self.file, self.reason);
        }
        write!(f, "{}: {}: {}", self.file, self.key, self.reason)
    }
}

impl std::error::Error for Fault {}

/// Collects faults while compiling, so that one run shows them all.
pub(crate) struct Faults {
    file: String,
    list: Vec<Fault>,
}

impl Faults {
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), list: Vec::new() }
    }

    /// Notes a fault.
    pub(crate) fn add(&mut self, key: impl Into<String>, reason: impl fmt::Display) {
        self.list.push(Fault { file: self.file.clone(), key: key.into(), reason: reason.to_string() });
    }

    /// The value of a result, or nothing and a note.
    pub(crate) fn note<T, E: fmt::Display>(&mut self, key: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.add(key, error)).ok()
    }

    /// Turns a finished value into the outcome of the compilation.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Fault>> {
        match value {
            Some(value) if self.list.is_empty() => Ok(value),
            _ => Err(self.list),
        }
    }
}
