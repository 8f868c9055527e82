//! Reads a template: letters, and placeholders in braces.

use super::{Case, Part, Segment, Value};
use crate::json;
use crate::scheme::{SchemeError, header_name};

pub(crate) fn segment(text: &str, optional: bool) -> Result<Segment, SchemeError> {
    let wrong = |reason: &str| SchemeError::Template(text.to_owned(), reason.to_owned());
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            literal.push(letter);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let (inside, after) = after.split_once('}').ok_or_else(|| wrong("has a { without }"))?;
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(placeholder(inside).map_err(|reason| wrong(&reason))?);
            rest = after;
        } else if letter == '}' {
            return Err(wrong("has a } without {; write }} for the letter"));
        } else {
            literal.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(Segment { parts, optional })
}

fn placeholder(inside: &str) -> Result<Part, String> {
    let (name, case) = match inside.rsplit_once('|') {
        Some((name, "lower")) => (name, Case::Lower),
        Some((name, "upper")) => (name, Case::Upper),
        Some((_, other)) => return Err(format!("has |{other}: only |lower and |upper are known")),
        None => (inside, Case::Kept),
    };
    let value = match name.split_once(':') {
        Some((_, "")) => return Err(format!("has {{{inside}}} without a name")),
        Some(("header", header)) => Value::Header(header_name(header).map_err(|error| error.to_string())?),
        Some(("query", query)) => Value::Query(query.to_owned()),
        Some(("json", path)) if json::is_path(path) => Value::Json(path.to_owned()),
        Some(("json", path)) => return Err(SchemeError::Path(path.to_owned()).to_string()),
        Some(("constant", constant)) => Value::Constant(constant.to_owned()),
        Some(_) => return Err(unknown(inside)),
        None => match name {
            "body" => Value::Body,
            "timestamp" => Value::Timestamp,
            "secret" => Value::Secret,
            "method" => Value::Method,
            "path" => Value::Path,
            "url" => Value::Url,
            "crc32" => Value::Crc32,
            _ => return Err(unknown(inside)),
        },
    };
    Ok(Part::Value(value, case))
}

fn unknown(inside: &str) -> String {
    format!(
        "has {{{inside}}}: known are body, timestamp, secret, method, path, url, crc32, header:NAME, query:NAME, \
         json:PATH and constant:NAME"
    )
}
