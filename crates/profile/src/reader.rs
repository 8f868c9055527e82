//! How one kind of document is read: a webhook's event, or an item of the provider's API.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::dedup::Dedup;
use crate::document::Unreadable;
use crate::field::Field;
use crate::leaf::Leaf;
use crate::place::Place;
use crate::shape::{Leaves, Shape};
use crate::version::VersionPlaces;

/// Longest resource id and event type: both are indexed, and longer ones are mistakes.
pub const IDENTIFIER_BYTES_MAX: usize = 512;

/// The compiled rules of one kind of document.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) shape: Shape,
    pub(crate) kind: String,
    pub(crate) resource: Place,
    /// What tells the status: an event's type, or an item's own field.
    pub(crate) status: Place,
    pub(crate) statuses: BTreeMap<String, String>,
    pub(crate) version: VersionPlaces,
    pub(crate) fields: Vec<Field>,
    pub(crate) tests: Vec<(Place, String)>,
}

/// What names an event.
pub(crate) struct Identity<'a> {
    pub(crate) status: Option<Cow<'a, str>>,
    pub(crate) resource: Option<Cow<'a, str>>,
    pub(crate) key: Option<Cow<'a, str>>,
}

impl Reader {
    /// What names the event; the receiver and the applier must agree on it, so both ask here.
    ///
    /// # Errors
    /// A value that can name nothing.
    pub(crate) fn identify<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
        dedup: &Dedup,
    ) -> Result<Identity<'a>, Unreadable> {
        Ok(Identity {
            status: identifier(&self.status, leaves, headers)?,
            resource: identifier(&self.resource, leaves, headers)?,
            key: dedup.key(leaves, headers)?,
        })
    }
}

/// A text or number that names something, exactly as written; none when absent, null or empty.
fn identifier<'a>(
    place: &Place,
    leaves: &Leaves<'a>,
    headers: &dyn signature::Headers,
) -> Result<Option<Cow<'a, str>>, Unreadable> {
    let text = match place.leaf(leaves, headers)? {
        leaf if leaf.is_empty() => return Ok(None),
        Leaf::Text(text) => text,
        Leaf::Number(digits) => Cow::Borrowed(digits),
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
