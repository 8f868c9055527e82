//! Where the signature stands, and how its value is taken apart.

use crate::scheme::{Request, SchemeError, header_name};
use crate::signed_spec::{Format, SignedSpec};
use crate::{Refusal, headers, json};

/// Most signatures tried in one request: each costs a hash of the body, and rotation needs two.
const SIGNATURES_MAX: usize = 8;

/// Longest value that is looked at.
const VALUE_BYTES_MAX: usize = 8 * 1024;

#[derive(Clone, Debug)]
pub(crate) enum Location {
    Header(String),
    Query(String),
    Json(String),
}

#[derive(Clone, Debug)]
enum Grammar {
    Plain,
    Pairs { separator: String, assign: String, keys: Vec<String>, timestamp: Option<String> },
    List { separator: String, version: String, versions: Vec<String> },
}

/// Where the signature stands and how it is written.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) location: Location,
    grammar: Grammar,
    prefix: String,
    blank: bool,
    prefix_required: bool,
}

/// What the request says it is signed with.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The signatures as written, in their order.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// The signed time as written.
    pub(crate) timestamp: Option<Vec<u8>>,
}

impl Place {
    pub(crate) fn compile(spec: &SignedSpec) -> Result<Self, SchemeError> {
        let location = match (&spec.header, &spec.query, &spec.json) {
            (Some(header), None, None) => Location::Header(header_name(header)?),
            (None, Some(query), None) => Location::Query(query.clone()),
            (None, None, Some(path)) if json::is_path(path) => Location::Json(path.clone()),
            (None, None, Some(path)) => return Err(SchemeError::Path(path.clone())),
            _ => return Err(SchemeError::Location),
        };
        let readable = |letter: char| letter.is_ascii_graphic() && letter != ',';
        // A prefix with a blank at its end is a word of its own, such as Bearer.
        let prefix = spec.prefix.trim_end_matches(' ');
        if !prefix.chars().all(readable) {
            return Err(SchemeError::Prefix(spec.prefix.clone()));
        }
        Ok(Self {
            location,
            grammar: grammar(spec)?,
            prefix: prefix.to_owned(),
            blank: prefix.len() < spec.prefix.len(),
            prefix_required: spec.prefix_required && !prefix.is_empty(),
        })
    }

    pub(crate) fn has_timestamp(&self) -> bool {
        matches!(&self.grammar, Grammar::Pairs { timestamp: Some(_), .. })
    }

    /// Reads the signatures that count.
    pub(crate) fn read(&self, request: &Request<'_>) -> Result<Found, Refusal> {
        let mut found = Found::default();
        for value in self.values(request)? {
            self.take(&value, &mut found)?;
        }
        if found.signatures.is_empty() {
            return Err(Refusal::UnknownScheme);
        }
        Ok(found)
    }

    fn values(&self, request: &Request<'_>) -> Result<Vec<Vec<u8>>, Refusal> {
        let value = match (&self.location, &self.grammar) {
            // Only these formats may stand on several lines: each line holds whole entries.
            (Location::Header(name), Grammar::Pairs { .. } | Grammar::List { .. }) => {
                return lines(request, name);
            }
            (Location::Header(name), Grammar::Plain) => headers::single(request.headers, name)?,
            (Location::Query(name), _) => {
                request.target.agreed_query_value(name)?.ok_or(Refusal::MissingHeader)?.into_bytes()
            }
            (Location::Json(path), _) => {
                json::text(request.body, path)?.ok_or(Refusal::MissingHeader)?.into_bytes()
            }
        };
        if value.is_empty() || value.len() > VALUE_BYTES_MAX {
            return Err(Refusal::Malformed);
        }
        Ok(vec![value])
    }

    fn take(&self, value: &[u8], found: &mut Found) -> Result<(), Refusal> {
        match &self.grammar {
            Grammar::Plain => {
                let value = value.trim_ascii();
                found.add(self.without_prefix(value)?)
            }
            Grammar::Pairs { separator, assign, keys, timestamp } => {
                for pair in split(value, separator.as_bytes()) {
                    let Some((key, value)) = cut(pair.trim_ascii(), assign.as_bytes()) else { continue };
                    let (key, value) = (key.trim_ascii(), value.trim_ascii());
                    if keys.iter().any(|known| known.as_bytes() == key) {
                        found.add(self.without_prefix(value)?)?;
                    } else if timestamp.as_ref().is_some_and(|known| known.as_bytes() == key) {
                        found.agree_on_time(value)?;
                    }
                }
                Ok(())
            }
            Grammar::List { separator, version, versions } => {
                for entry in split(value, separator.as_bytes()) {
                    let Some((name, value)) = cut(entry.trim_ascii(), version.as_bytes()) else { continue };
                    if versions.iter().any(|known| known.as_bytes() == name) {
                        found.add(self.without_prefix(value)?)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn without_prefix<'v>(&self, value: &'v [u8]) -> Result<&'v [u8], Refusal> {
        if self.prefix.is_empty() {
            return Ok(value);
        }
        // Words such as Bearer are written in any case.
        match value.split_at_checked(self.prefix.len()) {
            Some((head, rest))
                if head.eq_ignore_ascii_case(self.prefix.as_bytes())
                    && (!self.blank || rest.first().is_some_and(u8::is_ascii_whitespace)) =>
            {
                Ok(rest.trim_ascii_start())
            }
            _ if self.prefix_required => Err(Refusal::UnknownScheme),
            _ => Ok(value),
        }
    }

    /// The value that carries this signature.
    pub(crate) fn write(&self, signature: &str, timestamp: Option<&str>) -> String {
        let signature = match (self.prefix_required, self.blank) {
            (false, _) => signature.to_owned(),
            (true, false) => format!("{}{signature}", self.prefix),
            (true, true) => format!("{} {signature}", self.prefix),
        };
        match &self.grammar {
            Grammar::Plain => signature,
            Grammar::Pairs { separator, assign, keys, timestamp: key } => {
                let time =
                    key.as_ref().zip(timestamp).map(|(key, time)| format!("{key}{assign}{time}{separator}"));
                let name = keys.first().map_or("", String::as_str);
                format!("{}{name}{assign}{signature}", time.unwrap_or_default())
            }
            Grammar::List { version, versions, .. } => {
                format!("{}{version}{signature}", versions.first().map_or("", String::as_str))
            }
        }
    }
}

impl Found {
    fn add(&mut self, signature: &[u8]) -> Result<(), Refusal> {
        if signature.is_empty() {
            return Err(Refusal::Malformed);
        }
        if self.signatures.len() < SIGNATURES_MAX && !self.signatures.iter().any(|known| known == signature) {
            self.signatures.push(signature.to_vec());
        }
        Ok(())
    }

    fn agree_on_time(&mut self, value: &[u8]) -> Result<(), Refusal> {
        match &self.timestamp {
            Some(known) if known != value => Err(Refusal::Malformed),
            _ => {
                self.timestamp = Some(value.to_vec());
                Ok(())
            }
        }
    }
}

fn grammar(spec: &SignedSpec) -> Result<Grammar, SchemeError> {
    let text = |value: &Option<String>, usual: &str| value.clone().unwrap_or_else(|| usual.to_owned());
    let grammar = match spec.format {
        Format::Plain => Grammar::Plain,
        Format::Pairs => Grammar::Pairs {
            separator: text(&spec.separator, ","),
            assign: text(&spec.assign, "="),
            keys: spec.keys.clone(),
            timestamp: spec.timestamp_key.clone(),
        },
        Format::List => Grammar::List {
            separator: text(&spec.separator, " "),
            version: text(&spec.version_separator, ","),
            versions: spec.versions.clone(),
        },
    };
    let listed = match &grammar {
        Grammar::Plain => return Ok(grammar),
        Grammar::Pairs { separator, assign, keys, .. } => {
            !keys.is_empty() && !separator.is_empty() && !assign.is_empty()
        }
        Grammar::List { separator, version, versions } => {
            !versions.is_empty() && !separator.is_empty() && !version.is_empty()
        }
    };
    if listed { Ok(grammar) } else { Err(SchemeError::Format) }
}

fn lines(request: &Request<'_>, name: &str) -> Result<Vec<Vec<u8>>, Refusal> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    request.headers.for_each(name, &mut |line| {
        bytes += line.len();
        if bytes <= VALUE_BYTES_MAX {
            lines.push(line.to_vec());
        }
    });
    match lines.is_empty() {
        true if bytes == 0 => Err(Refusal::MissingHeader),
        _ if bytes > VALUE_BYTES_MAX => Err(Refusal::Malformed),
        _ if lines.iter().all(|line| line.trim_ascii().is_empty()) => Err(Refusal::Malformed),
        _ => Ok(lines),
    }
}

/// The parts between separators that are not empty.
fn split<'v>(value: &'v [u8], separator: &[u8]) -> Vec<&'v [u8]> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some((part, after)) = cut(rest, separator) {
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts
}

/// What stands before and after the first separator.
fn cut<'v>(value: &'v [u8], separator: &[u8]) -> Option<(&'v [u8], &'v [u8])> {
    let at = value.windows(separator.len()).position(|window| window == separator)?;
    Some((&value[..at], &value[at + separator.len()..]))
}
