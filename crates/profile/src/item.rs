//! What an item of the provider's API is: its envelope and the instant it changed at.

use std::borrow::Cow;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::dedup;
use crate::document::{self, Unreadable};
use crate::envelope::Envelope;
use crate::list::ItemOf;
use crate::profile::Profile;
use crate::reader::Reader;
use crate::rule::{Action, Rule, StatusOf};
use crate::shape::Leaves;

/// The event type of an item that `[api.items.NAME]` reads.
fn named_type(name: &str) -> String {
    format!("api.{name}")
}

/// How an item is read, and under which type it is stored: the event's own, where it is an event.
struct ItemReader<'a> {
    reader: &'a Reader,
    event_type: Option<Cow<'a, str>>,
}

impl Profile {
    /// The names under `[api.items]`.
    pub fn reader_names(&self) -> impl Iterator<Item = &str> {
        self.items.keys().map(String::as_str)
    }

    /// The instant that an item says it changed at: what a cursor may move to.
    pub fn item_instant(&self, of: &ItemOf, item: &[u8]) -> Option<Timestamp> {
        let ItemReader { reader, event_type } = self.reader_of(of)?;
        let leaves = document::text(item).and_then(|text| reader.shape.extract(text)).ok()?;
        let type_ = match event_type {
            Some(type_) => type_,
            None => reader.type_of(&leaves, &()).ok()?.unwrap_or_default(),
        };
        let rule = reader.rules.deciding(&type_, &leaves, &());
        rule.map_or(&reader.version, |rule| &rule.version).instant(&leaves, &()).ok()
    }

    /// What to store of an item read from the provider's API.
    ///
    /// The dedup key of a resource is made of kind, id, version and the values that are read, so that polling the same
    /// state again folds, while a changed value without a new version still comes through. An event has the key that it
    /// has as a webhook. Never fails, as [`envelopes`](Self::envelopes) never does.
    pub fn api_envelope<'a>(&'a self, of: &ItemOf, item: &'a [u8]) -> Envelope<'a> {
        let envelope = match of {
            ItemOf::Event => document::text(item).and_then(|text| self.event_envelope(text, item)),
            ItemOf::Item | ItemOf::Named(_) => self.item_envelope(of, item),
        };
        envelope.unwrap_or_else(|_| Envelope::unreadable(item))
    }

    fn item_envelope<'a>(&'a self, of: &ItemOf, item: &'a [u8]) -> Result<Envelope<'a>, Unreadable> {
        let unknown = Unreadable::NotAnEvent("an item that the profile does not describe");
        let ItemReader { reader, event_type } = self.reader_of(of).ok_or(unknown)?;
        let event_type = event_type.unwrap_or_default();
        let leaves = document::text(item).and_then(|text| reader.shape.extract(text))?;
        let identity = reader.identify(&leaves, &())?;
        let rule = reader.rules.deciding(&event_type, &leaves, &());
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
            event_type: Some(event_type),
            kind: Some(Cow::Borrowed(identity.kind)),
            resource_id: identity.resource,
        })
    }

    fn reader_of<'a>(&'a self, of: &ItemOf) -> Option<ItemReader<'a>> {
        let api = self.api.as_ref()?;
        match of {
            ItemOf::Event => Some(ItemReader { reader: &self.event, event_type: None }),
            ItemOf::Item => Some(ItemReader {
                reader: api.item.as_ref()?,
                event_type: Some(Cow::Borrowed(&api.event_type)),
            }),
            ItemOf::Named(name) => Some(ItemReader {
                reader: self.items.get(name)?,
                event_type: Some(Cow::Owned(named_type(name))),
            }),
        }
    }

    /// What an event that came from the API is: told from the type under which it was stored.
    pub(crate) fn item_of(&self, event_type: Option<&str>) -> ItemOf {
        let Some(api) = &self.api else { return ItemOf::Item };
        let is = |type_: &str| event_type == Some(type_);
        let named = || self.items.keys().find(|name| is(&named_type(name)));
        let has_events = || api.lists.iter().any(|list| list.items == ItemOf::Event);
        match named() {
            _ if is(&api.event_type) => ItemOf::Item,
            Some(name) => ItemOf::Named(name.clone()),
            None if has_events() => ItemOf::Event,
            None => ItemOf::Item,
        }
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
