//! How a value is written into a text.

use minijinja::{AutoEscape, Error, ErrorKind, Output, State, Value, escape_formatter, value::ValueKind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stays as it is in a path: the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Where a template's text goes, and so how its values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Escape {
    /// JSON: each value is written as JSON, texts with their quotes.
    Json,
    /// HTML: `< > & " '` of values are written as entities.
    Html,
    /// Plain text: values are written as they are.
    Text,
    /// The path and query of a URL: values are percent-encoded, `/` too.
    Path,
    /// A NATS subject: `.`, `*`, `>`, blanks and controls of values become `_`, so a value is one token.
    Subject,
}

impl Escape {
    /// What the engine escapes by itself; the rest is [`Escape::write`]'s.
    pub(super) fn automatic(self) -> AutoEscape {
        match self {
            Self::Json => AutoEscape::Json,
            Self::Html => AutoEscape::Html,
            Self::Text | Self::Path | Self::Subject => AutoEscape::None,
        }
    }

    pub(super) fn write(self, out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
        if value.is_undefined() {
            return escape_formatter(out, state, value);
        }
        match self {
            Self::Json => escape_formatter(out, state, value),
            Self::Html | Self::Text => {
                not_null(value)?;
                escape_formatter(out, state, value)
            }
            Self::Path => Ok(write!(out, "{}", utf8_percent_encode(&segment(value)?, ENCODED))?),
            Self::Subject => Ok(out.write_str(&segment(value)?.replace(splits_subject, "_"))?),
        }
    }

    /// What no value may do to the whole text.
    pub(super) fn check(self, text: &str) -> Result<(), String> {
        if self != Self::Path {
            return Ok(());
        }
        let path = text.split(['?', '#']).next().unwrap_or_default();
        let climbs = |segment: &str| matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..");
        if path.split(['/', '\\']).any(climbs) {
            return Err("the path has a segment . or .., which would lead elsewhere".to_owned());
        }
        Ok(())
    }
}

fn splits_subject(character: char) -> bool {
    matches!(character, '.' | '*' | '>') || character.is_whitespace() || character.is_control()
}

/// A value that stands for one part of an address: one text or number, not empty.
fn segment(value: &Value) -> Result<String, Error> {
    not_null(value)?;
    let text = match value.kind() {
        ValueKind::String | ValueKind::Number | ValueKind::Bool => value.to_string(),
        kind => return Err(refused(format!("a {kind} cannot be part of an address"))),
    };
    if text.is_empty() {
        return Err(refused("an empty value cannot be part of an address".to_owned()));
    }
    Ok(text)
}

fn not_null(value: &Value) -> Result<(), Error> {
    if value.is_none() {
        return Err(refused("the value is null; `| default(\"…\", true)` writes another".to_owned()));
    }
    Ok(())
}

fn refused(reason: String) -> Error {
    Error::new(ErrorKind::BadEscape, reason)
}
