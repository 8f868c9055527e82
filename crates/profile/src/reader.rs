//! What is read from an event, or from an item of the provider's API.

use std::borrow::Cow;

use crate::dedup::{Dedup, Policy};
use crate::document::Unreadable;
use crate::leaf::Leaf;
use crate::place::Place;
use crate::rule::{Action, Rules, StatusOf};
use crate::shape::{Leaves, Shape};
use crate::spec::Unknown;
use crate::version::VersionPlaces;

/// Longest id or event type; both are stored and indexed.
pub const IDENTIFIER_BYTES_MAX: usize = 512;

/// How to read one event, or one item.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) shape: Shape,
    /// Where the type stands; items have none.
    pub(crate) type_: Option<Place>,
    pub(crate) kind: String,
    pub(crate) resource: Place,
    pub(crate) dedup: Dedup,
    pub(crate) rules: Rules,
    /// Where the version stands if no rule matches.
    pub(crate) version: VersionPlaces,
    pub(crate) unknown: Unknown,
    pub(crate) tests: Vec<(Place, Mark)>,
}

/// What must stand at a place.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    Equals(String),
    Present,
}

/// What makes an event itself.
pub(crate) struct Identity<'a, 'r> {
    /// The event's type (of an item: nothing).
    pub(crate) type_: Option<Cow<'a, str>>,
    pub(crate) resource: Option<Cow<'a, str>>,
    pub(crate) kind: &'r str,
    /// The dedup key, where the parts of one are there.
    pub(crate) key: Option<Cow<'a, str>>,
    /// Whether every delivery is new.
    pub(crate) keyless: bool,
}

impl Reader {
    /// What the inbox needs to know.
    pub(crate) fn identify<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
    ) -> Result<Identity<'a, '_>, Unreadable> {
        let type_ = self.type_of(leaves, headers)?;
        let rule = self.rules.identifying(type_.as_deref().unwrap_or_default(), leaves, headers);
        let (kind, resource, dedup) = match rule {
            Some(rule) => (&rule.kind, &rule.resource, &rule.dedup),
            None => (&self.kind, &self.resource, &self.dedup),
        };
        Ok(Identity {
            resource: identifier(resource, leaves, headers)?,
            kind,
            key: dedup.key(leaves, headers)?,
            keyless: dedup.policy != Policy::Key,
            type_,
        })
    }

    /// The event's type; nothing for items, and where it is missing.
    pub(crate) fn type_of<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
    ) -> Result<Option<Cow<'a, str>>, Unreadable> {
        let Some(place) = &self.type_ else { return Ok(None) };
        let type_ = identifier(place, leaves, headers)?;
        if let Some(type_) = &type_ {
            leaves.know_type(type_.clone());
        }
        Ok(type_)
    }

    /// Each kind with each status that it can give.
    pub(crate) fn statuses(&self) -> Vec<(&str, &str)> {
        let mut all = Vec::new();
        for rule in self.rules.all() {
            match &rule.action {
                Action::Fact(StatusOf::Fixed(status)) => all.push((rule.kind.as_str(), status.as_str())),
                Action::Fact(StatusOf::Mapped { map, .. }) => {
                    all.extend(map.values().map(|status| (rule.kind.as_str(), status.as_str())));
                }
                Action::Ignore(_) | Action::Fetch { .. } => {}
            }
        }
        all
    }
}

impl Mark {
    /// Whether the mark stands at the place.
    pub(crate) fn stands(
        &self,
        place: &Place,
        leaves: &Leaves<'_>,
        headers: &dyn signature::Headers,
    ) -> Result<bool, Unreadable> {
        let leaf = place.leaf(leaves, headers)?;
        Ok(match self {
            Self::Present => !leaf.is_empty(),
            Self::Equals(mark) => match leaf {
                Leaf::Text(text) => text.eq_ignore_ascii_case(mark),
                Leaf::Number(digits) => digits == mark.as_str(),
                Leaf::Boolean(value) => value.to_string() == *mark,
                Leaf::Absent | Leaf::Null | Leaf::Composite(_) => false,
            },
        })
    }
}

/// The text of an id or type; nothing when it is absent, null or empty.
pub(crate) fn identifier<'a>(
    place: &Place,
    leaves: &Leaves<'a>,
    headers: &dyn signature::Headers,
) -> Result<Option<Cow<'a, str>>, Unreadable> {
    let text = match place.leaf(leaves, headers)? {
        leaf if leaf.is_empty() => return Ok(None),
        Leaf::Text(text) => text,
        Leaf::Number(digits) => digits,
        other => return Err(place.unusable(format!("is {}, not a text or number", other.describe()))),
    };
    if text.contains('\0') {
        return Err(place.unusable("contains a NUL"));
    }
    if text.len() > IDENTIFIER_BYTES_MAX {
        return Err(place.unusable(format!("is longer than {IDENTIFIER_BYTES_MAX} bytes")));
    }
    Ok(Some(text))
}
