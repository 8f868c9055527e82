//! Splits the answers of a provider's API into items, and makes an envelope of each.

use std::borrow::Cow;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::api::{Api, PageShape};
use crate::dedup;
use crate::document::{self, Unreadable};
use crate::envelope::Envelope;
use crate::leaf::Leaf;
use crate::place::Place;
use crate::profile::Profile;
use crate::rule::{Action, Rule, StatusOf};
use crate::shape::Leaves;

/// Most items read from one page.
const ITEMS_MAX: usize = 10_000;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// The exact bytes of each item.
    pub items: Vec<&'a [u8]>,
    /// What asks for the next page; nothing on the last.
    pub next: Option<String>,
}

/// Why an answer is no page. The cursor must not move past it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The answer cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The items are not where the profile says.
    #[error("{place} is {found}, not {expected}")]
    NotThere {
        /// Where they should be.
        place: String,
        /// What stands there.
        found: &'static str,
        /// What should stand there.
        expected: &'static str,
    },
}

impl Api {
    /// Splits a list's answer.
    ///
    /// # Errors
    /// The answer is not the page that the profile describes.
    pub fn page<'a>(&self, body: &'a [u8]) -> Result<Page<'a>, PageError> {
        let (raw, next) = self.page.split(body, "a list")?;
        if document::first_letter(raw) != Some(b'[') {
            return Err(self.page.not_there(document::describe(document::first_letter(raw)), "a list"));
        }
        let items = document::elements(raw, ITEMS_MAX)?.into_iter().map(str::as_bytes).collect();
        Ok(Page { items, next })
    }

    /// The item in the answer to a call for one resource.
    ///
    /// # Errors
    /// The answer is not what the profile describes, or the profile describes no such call.
    pub fn one<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], PageError> {
        let shape = self.get.as_ref().map_or(&self.page, |get| &get.item);
        let (raw, _) = shape.split(body, "an object")?;
        match document::first_letter(raw) {
            Some(b'{') => Ok(raw.as_bytes()),
            other => Err(shape.not_there(document::describe(other), "an object")),
        }
    }

    /// The instant that an item says it changed at: what a cursor may move to.
    pub fn item_instant(&self, item: &[u8]) -> Option<Timestamp> {
        let leaves = document::text(item).and_then(|text| self.item.shape.extract(text)).ok()?;
        let rule = self.item.rules.deciding(&self.event_type, &leaves, &())?;
        rule.version.instant(&leaves, &()).ok()
    }
}

impl PageShape {
    /// The raw text of the items, or of the one item.
    pub(crate) fn raw<'a>(&self, body: &'a [u8], expected: &'static str) -> Result<&'a str, PageError> {
        self.split(body, expected).map(|(raw, _)| raw)
    }

    /// The raw text of the items, and the next token.
    fn split<'a>(
        &self,
        body: &'a [u8],
        expected: &'static str,
    ) -> Result<(&'a str, Option<String>), PageError> {
        let text = document::text(body)?;
        let Some(Place::Body { slot, .. }) = &self.items else { return Ok((text, None)) };
        let leaves = self.shape.extract(text)?;
        let raw = leaves.raw(*slot).ok_or_else(|| self.not_there("missing", expected))?;
        Ok((raw, self.next_token(&leaves)?))
    }

    fn next_token(&self, leaves: &Leaves<'_>) -> Result<Option<String>, PageError> {
        let Some(place) = &self.next else { return Ok(None) };
        match place.leaf(leaves, &())? {
            leaf if leaf.is_empty() => Ok(None),
            Leaf::Text(token) => Ok(Some(token.into_owned())),
            Leaf::Number(digits) => Ok(Some(digits.into_owned())),
            other => Err(PageError::NotThere {
                place: place.to_string(),
                found: other.describe(),
                expected: "a token",
            }),
        }
    }

    fn not_there(&self, found: &'static str, expected: &'static str) -> PageError {
        let place = self.items.as_ref().map_or_else(|| "the answer".to_owned(), Place::to_string);
        PageError::NotThere { place, found, expected }
    }
}

impl Profile {
    /// What to store of an item read from the provider's API.
    ///
    /// Its dedup key is made of kind, id, version and the values that are read, so that polling the same state
    /// again folds, while a changed value without a new version still comes through. Never fails, as
    /// [`envelopes`](Self::envelopes) never does.
    pub fn api_envelope<'a>(&'a self, item: &'a [u8]) -> Envelope<'a> {
        let Some(api) = &self.api else { return Envelope::unreadable(item) };
        self.item_envelope(api, item).unwrap_or_else(|_| Envelope::unreadable(item))
    }

    fn item_envelope<'a>(&'a self, api: &'a Api, item: &'a [u8]) -> Result<Envelope<'a>, Unreadable> {
        let reader = &api.item;
        let leaves = document::text(item).and_then(|text| reader.shape.extract(text))?;
        let identity = reader.identify(&leaves, &())?;
        let rule = reader.rules.deciding(&api.event_type, &leaves, &());
        let key = match (&identity.resource, rule) {
            (Some(id), Some(rule)) => {
                let version = self.version.mark(&rule.version, &leaves);
                dedup::api_key(&rule.kind, id, &version, &rule.mark(&leaves))
            }
            _ => dedup::of_bytes(item),
        };
        Ok(Envelope {
            body: Cow::Borrowed(item),
            dedup_key: Some(key),
            event_type: Some(Cow::Borrowed(&api.event_type)),
            kind: Some(Cow::Borrowed(identity.kind)),
            resource_id: identity.resource,
        })
    }
}

impl Rule {
    /// A short digest of the values that a fact would be made of, without what only dates it.
    fn mark(&self, leaves: &Leaves<'_>) -> String {
        let mut digest = Sha256::new();
        let status = match &self.action {
            Action::Fact(StatusOf::Mapped { place, .. }) => place.slots(),
            Action::Fact(StatusOf::Fixed(status)) => {
                digest.update(status);
                Vec::new()
            }
            Action::Ignore(_) | Action::Fetch { .. } => Vec::new(),
        };
        let fields = self.fields.iter().flat_map(|field| field.place.slots());
        for slot in status.into_iter().chain(fields) {
            let raw = leaves.raw(slot).unwrap_or("null");
            digest.update(raw.len().to_be_bytes());
            digest.update(raw);
        }
        hex::encode(&digest.finalize()[..8])
    }
}
