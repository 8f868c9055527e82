//! What of a page's items is worth storing, before the database is asked.

use std::collections::{BTreeSet, HashMap};

use domain::{Fact, Resource, ResourceId, decide};
use jiff::Timestamp;
use profile::{Envelope, ItemOf, List, Origin, Reading, Stored};

use crate::{order::Order, pull::Window, source::SourceReader};

/// One item of a page.
pub(crate) struct Item<'a> {
    /// Its place in the page.
    pub(crate) at: usize,
    pub(crate) envelope: Envelope<'a>,
    pub(crate) key: String,
    pub(crate) reading: Reading,
    /// Whether it is an event, and no resource.
    pub(crate) is_event: bool,
}

/// The items of one page that lie in the window, and what the page says about time.
#[derive(Default)]
pub(crate) struct PageItems<'a> {
    pub(crate) items: Vec<Item<'a>>,
    /// The greatest instant in the window.
    pub(crate) newest: Option<Timestamp>,
    /// Whether it has items and all of them lie after the window.
    pub(crate) is_beyond: bool,
}

impl SourceReader {
    /// Reads the items of a page. Those that changed after the window's end are left for later: a webhook may be on its
    /// way, and the provider's own replicas may lag. One so far ahead that no clock's error explains it is taken now,
    /// or it would be left for ever.
    pub(crate) fn read_items<'a>(
        &'a self,
        list: &List,
        items: &[&'a [u8]],
        window: &Window,
        order: &mut Order,
        now: Timestamp,
    ) -> PageItems<'a> {
        let mut read = PageItems { items: Vec::new(), newest: None, is_beyond: !items.is_empty() };
        for (at, item) in items.iter().enumerate() {
            let instant = self.profile.item_instant(&list.items, item);
            if let Some(instant) = instant {
                order.note(instant);
            }
            if instant.is_none_or(|instant| instant <= window.to) {
                read.is_beyond = false;
                read.newest = read.newest.max(instant);
            } else if !window.takes_far_ahead(instant) {
                continue;
            }
            read.items.push(self.read_item(&list.items, at, item, now));
        }
        read
    }

    pub(crate) fn read_item<'a>(
        &'a self,
        of: &ItemOf,
        at: usize,
        item: &'a [u8],
        now: Timestamp,
    ) -> Item<'a> {
        let envelope = self.profile.api_envelope(of, item);
        let key = envelope.dedup_key.clone().unwrap_or_default();
        let stored = Stored {
            source: &self.name,
            origin: Origin::Reconcile,
            body: item,
            headers: &(),
            event_type: envelope.event_type.as_deref(),
            event_key: &key,
            received_at: now,
        };
        let reading = self.profile.read(&stored, &|kind| self.parts.configured.flow(kind));
        Item { at, envelope, key, reading, is_event: *of == ItemOf::Event }
    }

    /// Whether the item could change anything: the row is not there, or deciding over it gives another row or an effect.
    /// That is the applier's own rule, there is no second one. What cannot be read is news as well. A list of events holds
    /// far more than what is sent to us, so what is not for us is left there.
    pub(crate) fn is_news(&self, item: &Item<'_>, rows: &HashMap<ResourceId, Resource>) -> bool {
        match &item.reading {
            Reading::Fact { resource, fact } => {
                rows.get(resource).is_none_or(|row| self.would_change(row, &resource.kind, fact))
            }
            Reading::Ignored(_) | Reading::Test(_) => !item.is_event,
            Reading::Fetch { .. } | Reading::Malformed(_) => true,
        }
    }

    fn would_change(&self, row: &Resource, kind: &str, fact: &Fact) -> bool {
        self.parts.configured.flow(kind).is_none_or(|flow| {
            let decision = decide(Some(row), fact, flow);
            decision.resource != *row || !decision.effects.is_empty()
        })
    }
}

impl PageItems<'_> {
    /// The resources that the items are facts of, each once.
    pub(crate) fn resources(&self) -> Vec<ResourceId> {
        let wanted: BTreeSet<&ResourceId> = self.items.iter().filter_map(Item::resource).collect();
        wanted.into_iter().cloned().collect()
    }
}

impl Item<'_> {
    /// The resource that the item is a fact of.
    pub(crate) fn resource(&self) -> Option<&ResourceId> {
        match &self.reading {
            Reading::Fact { resource, .. } => Some(resource),
            Reading::Fetch { .. } | Reading::Ignored(_) | Reading::Test(_) | Reading::Malformed(_) => None,
        }
    }
}
