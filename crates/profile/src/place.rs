//! Where a value stands: in the body, in a header or in the query; or how it is put together.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::cel::Expression;
use crate::document::Unreadable;
pub(crate) use crate::edits::Edits;
use crate::leaf::Leaf;
use crate::shape::{INDEX_MAX, Leaves};

/// The pseudo header that carries the request's query.
pub const QUERY: &str = ":query";

/// Splits a path into its keys, such as `data.id`; an index such as `charges[0].id` is a key of its own.
pub(crate) fn keys(path: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{path:?} is not a path: write keys joined by dots, such as \"data.id\"");
    let mut keys = Vec::new();
    for part in path.split('.') {
        if part.is_empty() {
            return Err(wrong());
        }
        let mut name = part;
        let mut indexes = Vec::new();
        while let Some((before, index)) = name.strip_suffix(']').and_then(|part| part.rsplit_once('[')) {
            if index.is_empty() {
                return Err(wrong());
            }
            if !index.bytes().all(|byte| byte.is_ascii_digit()) {
                break;
            }
            match index.parse::<usize>() {
                Ok(at) if at <= INDEX_MAX => indexes.push(format!("[{at}]")),
                _ => return Err(format!("{path:?} names an index above {INDEX_MAX}")),
            }
            name = before;
        }
        keys.extend((!name.is_empty()).then(|| name.to_owned()));
        keys.extend(indexes.into_iter().rev());
    }
    Ok(keys)
}

/// A place, compiled.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A path in the body.
    Body { slot: usize, path: String },
    /// A header.
    Header { name: String },
    /// A parameter of the query.
    Query { name: String },
    /// Always the same text.
    Constant(String),
    /// The first of several that is there.
    First(Vec<Place>),
    /// All of several, joined.
    Join(Vec<Place>, String),
    /// A digest of the raw values; of the whole body without any.
    Hash(Option<Vec<Place>>),
    /// Computed.
    Cel(Expression),
    /// Another place, with its text changed.
    Edited(Box<Place>, Edits),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |places: &[Place], word: &str| places.iter().map(Place::to_string).collect::<Vec<_>>().join(word);
        match self {
            Self::Body { path, .. } => write!(f, "`{path}`"),
            Self::Header { name } => write!(f, "header `{name}`"),
            Self::Query { name } => write!(f, "query parameter `{name}`"),
            Self::Constant(text) => write!(f, "{text:?}"),
            Self::First(places) => f.write_str(&list(places, " or ")),
            Self::Join(places, _) => f.write_str(&list(places, " with ")),
            Self::Hash(_) => f.write_str("the digest"),
            Self::Cel(expression) => write!(f, "{expression:?}"),
            Self::Edited(place, _) => place.fmt(f),
        }
    }
}

impl Place {
    /// What stands here.
    #[inline]
    pub(crate) fn leaf<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
    ) -> Result<Leaf<'a>, Unreadable> {
        // Nearly every place is a plain path: it goes no further.
        match self {
            Self::Body { slot, .. } => {
                Leaf::read(leaves.raw(*slot)).map_err(|error| self.unusable(error.to_string()))
            }
            _ => self.composed(leaves, headers),
        }
    }

    #[inline(never)]
    fn composed<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
    ) -> Result<Leaf<'a>, Unreadable> {
        match self {
            Self::Body { .. } => self.leaf(leaves, headers),
            Self::Header { name } => self.header(name, headers),
            Self::Query { name } => {
                Ok(query_value(&query(headers), name).map_or(Leaf::Absent, |value| Leaf::Text(value.into())))
            }
            Self::Constant(text) => Ok(Leaf::Text(text.clone().into())),
            Self::First(places) => {
                for place in places {
                    let leaf = place.leaf(leaves, headers)?;
                    if !leaf.is_empty() {
                        return Ok(leaf);
                    }
                }
                Ok(Leaf::Absent)
            }
            Self::Join(places, separator) => join(places, separator, leaves, headers),
            Self::Hash(places) => Ok(Leaf::Text(digest(places.as_deref(), leaves, headers)?.into())),
            Self::Cel(expression) => Ok(expression.value(leaves, headers)),
            Self::Edited(place, edits) => Ok(edits.apply(place.leaf(leaves, headers)?)),
        }
    }

    /// The slots of the body that it reads.
    pub(crate) fn slots(&self) -> Vec<usize> {
        match self {
            Self::Body { slot, .. } => vec![*slot],
            Self::First(places) | Self::Join(places, _) | Self::Hash(Some(places)) => {
                places.iter().flat_map(Place::slots).collect()
            }
            Self::Edited(place, _) => place.slots(),
            Self::Cel(expression) => expression.slots(),
            Self::Header { .. } | Self::Query { .. } | Self::Constant(_) | Self::Hash(None) => Vec::new(),
        }
    }

    /// Whether its values keep the types that JSON gives them. Elsewhere all is text, and digits count as a number.
    pub(crate) fn is_typed(&self) -> bool {
        match self {
            Self::Body { .. } | Self::Cel(_) => true,
            Self::First(places) => places.iter().all(Self::is_typed),
            Self::Header { .. }
            | Self::Query { .. }
            | Self::Constant(_)
            | Self::Join(..)
            | Self::Hash(_)
            | Self::Edited(..) => false,
        }
    }

    /// Whether it is computed from the type.
    pub(crate) fn names_type(&self) -> bool {
        match self {
            Self::Cel(expression) => expression.names_type(),
            Self::First(places) | Self::Join(places, _) | Self::Hash(Some(places)) => {
                places.iter().any(Self::names_type)
            }
            Self::Edited(place, _) => place.names_type(),
            Self::Body { .. }
            | Self::Header { .. }
            | Self::Query { .. }
            | Self::Constant(_)
            | Self::Hash(None) => false,
        }
    }

    /// The fault of a value here that cannot be used.
    pub(crate) fn unusable(&self, reason: impl Into<String>) -> Unreadable {
        Unreadable::Identifier { place: self.to_string(), reason: reason.into() }
    }

    /// The header's value; the same value in several lines counts as one.
    fn header<'a>(&self, name: &str, headers: &dyn signature::Headers) -> Result<Leaf<'a>, Unreadable> {
        let mut found: Option<Vec<u8>> = None;
        let mut differs = false;
        headers.for_each(name, &mut |line| {
            let value = line.trim_ascii();
            match &found {
                None => found = Some(value.to_vec()),
                Some(first) => differs |= first != value,
            }
        });
        if differs {
            return Err(self.unusable("is repeated with another value"));
        }
        let Some(value) = found else { return Ok(Leaf::Absent) };
        let text = String::from_utf8(value).map_err(|_| self.unusable("is not UTF-8"))?;
        Ok(Leaf::Text(text.into()))
    }
}

/// The text of a leaf that has one: numbers as their digits; else the leaf back.
pub(crate) fn text_of(leaf: Leaf<'_>) -> Result<Cow<'_, str>, Leaf<'_>> {
    match leaf {
        Leaf::Text(text) if !text.is_empty() => Ok(text),
        Leaf::Number(digits) => Ok(digits),
        Leaf::Boolean(value) => Ok(Cow::Borrowed(if value { "true" } else { "false" })),
        other => Err(other),
    }
}

fn join<'a>(
    places: &[Place],
    separator: &str,
    leaves: &Leaves<'a>,
    headers: &dyn signature::Headers,
) -> Result<Leaf<'a>, Unreadable> {
    let mut joined = String::new();
    for (index, place) in places.iter().enumerate() {
        let Ok(text) = text_of(place.leaf(leaves, headers)?) else { return Ok(Leaf::Absent) };
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&text);
    }
    Ok(Leaf::Text(joined.into()))
}

/// SHA-256 over the raw values, length-prefixed; absent ones count as `null`.
fn digest(
    places: Option<&[Place]>,
    leaves: &Leaves<'_>,
    headers: &dyn signature::Headers,
) -> Result<String, Unreadable> {
    let Some(places) = places else { return Ok(hex::encode(Sha256::digest(leaves.text()))) };
    let mut digest = Sha256::new();
    for place in places {
        let own;
        let raw = match place {
            Place::Body { slot, .. } => leaves.raw(*slot).unwrap_or("null"),
            other => {
                own =
                    text_of(other.leaf(leaves, headers)?).map_or_else(|_| "null".to_owned(), Cow::into_owned);
                &own
            }
        };
        digest.update(raw.len().to_be_bytes());
        digest.update(raw);
    }
    Ok(hex::encode(digest.finalize()))
}

/// The request's query, from its pseudo header.
pub(crate) fn query(headers: &dyn signature::Headers) -> String {
    crate::decode::header(headers, QUERY).unwrap_or_default()
}

/// The one value of a parameter; none when it is repeated with another value.
pub(crate) fn query_value(query: &str, name: &str) -> Option<String> {
    signature::Target { query, ..signature::Target::default() }.query_value(name)
}
