//! Where a value stands: a path in the body, or a header.

use std::fmt;

use crate::document::Unreadable;
use crate::leaf::Leaf;
use crate::shape::Leaves;

/// Splits a dotted path into its keys.
pub(crate) fn keys(path: &str) -> Result<Vec<&str>, String> {
    let keys: Vec<&str> = path.split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(format!("{path:?} is not a path: write keys joined by dots, such as \"data.id\""));
    }
    Ok(keys)
}

/// A place, compiled.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A path in the body, by its slot in the shape.
    Body { slot: usize, path: String },
    /// A header, in lower case.
    Header { name: String },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body { path, .. } => write!(f, "`{path}`"),
            Self::Header { name } => write!(f, "header `{name}`"),
        }
    }
}

impl Place {
    /// The value that stands there.
    pub(crate) fn leaf<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
    ) -> Result<Leaf<'a>, Unreadable> {
        match self {
            Self::Body { slot, .. } => {
                Leaf::read(leaves.raw(*slot)).map_err(|error| self.unusable(error.to_string()))
            }
            Self::Header { name } => self.header(name, headers),
        }
    }

    /// A fault of the value that stands here.
    pub(crate) fn unusable(&self, reason: impl Into<String>) -> Unreadable {
        Unreadable::Identifier { place: self.to_string(), reason: reason.into() }
    }

    /// A header's one value; copies of the line count once.
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
