//! The string to sign: a template from the profile, filled from the request.

mod parse;

use std::borrow::Cow;

use serde::Deserialize;

use crate::scheme::{Request, SchemeError};
use crate::{Refusal, json};

use parse::segment;

/// `text = "…"`, or a list of segments.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a template such as \"{timestamp}.{body}\", or a list of segments")]
pub enum TextSpec {
    /// One template.
    One(String),
    /// Several, one after the other.
    Many(Vec<SegmentSpec>),
}

impl TextSpec {
    /// Whether it is the raw body and nothing else.
    pub(crate) fn is_body(&self) -> bool {
        matches!(self, TextSpec::One(text) if text == "{body}")
    }
}

/// One segment of a string to sign.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a template, or { text = \"…\", optional = true }")]
pub enum SegmentSpec {
    /// Always there.
    Plain(String),
    /// Left out when a value in it is missing, if optional.
    Table(SegmentTable),
}

/// A segment as a table.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SegmentTable {
    /// The template.
    pub text: String,
    /// Whether the segment is left out when a value in it is missing.
    #[serde(default)]
    pub optional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Body,
    Timestamp,
    Secret,
    Method,
    Path,
    Url,
    Crc32,
    Header(String),
    Query(String),
    Json(String),
    Constant(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Kept,
    Lower,
    Upper,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    Value(Value, Case),
}

#[derive(Clone, Debug)]
struct Segment {
    parts: Vec<Part>,
    optional: bool,
}

/// A compiled string to sign.
#[derive(Clone, Debug)]
pub(crate) struct Template(Vec<Segment>);

/// What a template is filled with besides the request.
pub(crate) struct Fill<'a> {
    /// The signed time as it was written.
    pub(crate) timestamp: Option<&'a [u8]>,
    /// The secret, for digests that contain it.
    pub(crate) secret: &'a [u8],
}

impl Template {
    /// The raw body alone.
    pub(crate) fn body() -> Self {
        Self(vec![Segment { parts: vec![Part::Value(Value::Body, Case::Kept)], optional: false }])
    }

    pub(crate) fn compile(spec: &TextSpec) -> Result<Self, SchemeError> {
        let segments = match spec {
            TextSpec::One(text) => vec![segment(text, false)?],
            TextSpec::Many(list) => list
                .iter()
                .map(|spec| match spec {
                    SegmentSpec::Plain(text) => segment(text, false),
                    SegmentSpec::Table(table) => segment(&table.text, table.optional),
                })
                .collect::<Result<_, _>>()?,
        };
        if segments.iter().all(|segment| segment.parts.is_empty()) {
            return Err(SchemeError::Template(String::new(), "is empty: anybody could sign it".to_owned()));
        }
        Ok(Self(segments))
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().flat_map(|segment| &segment.parts).filter_map(|part| match part {
            Part::Value(value, _) => Some(value),
            Part::Literal(_) => None,
        })
    }

    pub(crate) fn has_secret(&self) -> bool {
        self.values().any(|value| *value == Value::Secret)
    }

    pub(crate) fn has_timestamp(&self) -> bool {
        self.values().any(|value| *value == Value::Timestamp)
    }

    /// Whether it holds the signed time, by its own name or as the header it stands in.
    pub(crate) fn signs_time(&self, header: Option<&str>) -> bool {
        self.has_timestamp() || self.headers().any(|name| Some(name) == header)
    }

    pub(crate) fn covers_body(&self) -> bool {
        self.values().any(|value| matches!(value, Value::Body | Value::Crc32))
    }

    pub(crate) fn needs_url(&self) -> bool {
        self.values().any(|value| *value == Value::Url)
    }

    pub(crate) fn needs_path(&self) -> bool {
        self.values().any(|value| *value == Value::Path)
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = &str> {
        self.values().filter_map(|value| match value {
            Value::Header(name) => Some(name.as_str()),
            _ => None,
        })
    }

    pub(crate) fn queries(&self) -> impl Iterator<Item = &str> {
        self.values().filter_map(|value| match value {
            Value::Query(name) => Some(name.as_str()),
            _ => None,
        })
    }

    pub(crate) fn constants(&self) -> impl Iterator<Item = &str> {
        self.values().filter_map(|value| match value {
            Value::Constant(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The pieces of the string to sign.
    ///
    /// # Errors
    /// A value that must be there is not, or one contradicts itself. The latter is never "missing": else a second
    /// copy of a header would take an optional segment out, and the event's reader could still believe the first.
    pub(crate) fn fill<'a>(
        &'a self,
        request: &Request<'a>,
        fill: &Fill<'a>,
    ) -> Result<Vec<Cow<'a, [u8]>>, Refusal> {
        let mut pieces = Vec::new();
        for segment in &self.0 {
            let start = pieces.len();
            for part in &segment.parts {
                match part.fill(request, fill)? {
                    Some(piece) => pieces.push(piece),
                    None if segment.optional => {
                        pieces.truncate(start);
                        break;
                    }
                    None => return Err(Refusal::MissingHeader),
                }
            }
        }
        Ok(pieces)
    }
}

impl Part {
    fn fill<'a>(&'a self, request: &Request<'a>, fill: &Fill<'a>) -> Filled<'a> {
        let (value, case) = match self {
            Part::Literal(text) => return Ok(Some(Cow::Borrowed(text.as_bytes()))),
            Part::Value(value, case) => (value, *case),
        };
        let bytes = value.read(request, fill)?;
        Ok(bytes.map(|bytes| match case {
            Case::Kept => bytes,
            Case::Lower => Cow::Owned(bytes.to_ascii_lowercase()),
            Case::Upper => Cow::Owned(bytes.to_ascii_uppercase()),
        }))
    }
}

impl Value {
    fn read<'a>(&'a self, request: &Request<'a>, fill: &Fill<'a>) -> Filled<'a> {
        let some = |bytes: Vec<u8>| (!bytes.is_empty()).then_some(Cow::Owned(bytes));
        Ok(match self {
            Value::Body => Some(Cow::Borrowed(request.body)),
            Value::Timestamp => fill.timestamp.map(Cow::Borrowed),
            Value::Secret => Some(Cow::Borrowed(fill.secret)),
            Value::Method => present(request.target.method),
            Value::Path => present(request.target.path),
            Value::Url => present(request.target.url),
            Value::Crc32 => Some(Cow::Owned(crc32fast::hash(request.body).to_string().into_bytes())),
            Value::Header(name) => match crate::headers::single(request.headers, name) {
                Err(Refusal::MissingHeader) => None,
                value => some(value?),
            },
            Value::Query(name) => {
                request.target.agreed_query_value(name)?.map(String::into_bytes).and_then(some)
            }
            // A field that is not there stands as nothing: that is how the providers that sign fields do it.
            Value::Json(path) => {
                Some(Cow::Owned(json::text(request.body, path)?.unwrap_or_default().into_bytes()))
            }
            Value::Constant(name) => request.target.constant(name).and_then(present),
        })
    }
}

/// A value, nothing where it is missing, or why it cannot be believed.
type Filled<'a> = Result<Option<Cow<'a, [u8]>>, Refusal>;

fn present(text: &str) -> Option<Cow<'_, [u8]>> {
    (!text.is_empty()).then_some(Cow::Borrowed(text.as_bytes()))
}
