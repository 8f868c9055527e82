//! What is wrong in a profile's file, said so that its author finds it.

use std::fmt;

use toml::de::{DeTable, DeValue};

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
    pub(crate) fn finish<T>(mut self, value: Option<T>, toml_text: &str) -> Result<T, Vec<Fault>> {
        match value {
            Some(value) if self.list.is_empty() => Ok(value),
            _ => {
                name_lines(&mut self.list, toml_text);
                Err(self.list)
            }
        }
    }
}

/// Adds the line of its key to each fault that does not name one.
fn name_lines(faults: &mut [Fault], toml_text: &str) {
    let Ok(document) = DeTable::parse(toml_text) else { return };
    for fault in faults.iter_mut().filter(|fault| !fault.reason.starts_with("line ")) {
        let Some(before) = offset(document.get_ref(), &fault.key).and_then(|at| toml_text.get(..at)) else {
            continue;
        };
        fault.reason = format!("{} (line {})", fault.reason, before.matches('\n').count() + 1);
    }
}

/// Where a key stands in the file, or the deepest table above it that is there. A key may itself hold dots.
fn offset(table: &DeTable<'_>, key: &str) -> Option<usize> {
    let after = |name: &str| {
        let rest = key.strip_prefix(name)?;
        rest.is_empty()
            .then_some(rest)
            .or_else(|| rest.strip_prefix('.'))
            .or(rest.starts_with('[').then_some(rest))
    };
    let longest = table.iter().filter_map(|(name, value)| Some((name, value, after(name.get_ref())?)));
    let (name, mut value, mut rest) = longest.max_by_key(|(name, ..)| name.get_ref().len())?;
    let mut at = name.span().start;
    while let Some((index, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let DeValue::Array(list) = value.get_ref() else { return Some(at) };
        let Some(element) = index.parse().ok().and_then(|index: usize| list.get(index)) else {
            return Some(at);
        };
        at = element.span().start;
        (value, rest) = (element, after.strip_prefix('.').unwrap_or(after));
    }
    match value.get_ref() {
        DeValue::Table(inner) if !rest.is_empty() => offset(inner, rest).or(Some(at)),
        _ => Some(at),
    }
}
