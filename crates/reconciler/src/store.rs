//! Stores a page: what it brings and the cursor's move, in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::{
    Channel, Client, cursors, ids,
    inbox::{self, NewEvent, Origin},
    resources,
};
use domain::{Resource, ResourceId};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    page::{Item, PageItems},
    patience::Patience,
    pull::Keeping,
    source::SourceReader,
};

/// What storing a page did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoredPage {
    /// Events that entered the inbox.
    pub(crate) events: u64,
    /// Of them, those that are facts.
    pub(crate) facts: u64,
    /// Where the cursor is now, if it was to move.
    pub(crate) cursor: Option<Timestamp>,
}

impl SourceReader {
    /// Stores the page once, waiting for the database where it is away; `None` when the stop came first.
    ///
    /// # Errors
    /// When the database refuses the page: nothing of it is stored then.
    pub(crate) async fn store(
        &self,
        page: &PageItems<'_>,
        origin: Origin,
        keeping: Keeping,
        cursor: Option<(&str, Timestamp)>,
    ) -> db::Result<Option<StoredPage>> {
        let mut patience = Patience::new(&self.name, &self.parts.shutdown);
        loop {
            match self.store_once(page, origin, keeping, cursor).await {
                Ok(stored) => return Ok(Some(stored)),
                Err(error) => {
                    if !patience.bear(error).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    async fn store_once(
        &self,
        page: &PageItems<'_>,
        origin: Origin,
        keeping: Keeping,
        cursor: Option<(&str, Timestamp)>,
    ) -> db::Result<StoredPage> {
        let now = self.now();
        let mut client = self.parts.pool.get().await?;
        let transaction = client.transaction().await?;
        let rows = resources::load(&transaction, &page.resources()).await?;
        let news = self.news(page, &rows);
        let events: Vec<NewEvent<'_>> = news.values().map(|item| self.event(item, origin, now)).collect();
        let known = if events.is_empty() { Vec::new() } else { inbox::store(&transaction, &events).await? };
        let cursor = match cursor {
            Some((name, to)) => Some(cursors::advance(&transaction, &self.name, name, to, now).await?),
            None => None,
        };
        match keeping {
            Keeping::Store => transaction.commit().await?,
            Keeping::Count => transaction.rollback().await?,
        }

        let known: BTreeSet<Uuid> = known.iter().map(|duplicate| duplicate.event_id).collect();
        let fresh = events.iter().zip(news.values()).filter(|(event, _)| !known.contains(&event.event_id));
        let (mut events, mut facts) = (0, 0);
        for (event, item) in fresh {
            tracing::debug!(source = self.name, event.id = %event.event_id, "the inbox did not know it");
            events += 1;
            facts += u64::from(item.resource().is_some());
        }
        if events > 0 && keeping == Keeping::Store {
            self.hint(&client).await;
        }
        Ok(StoredPage { events, facts, cursor })
    }

    /// The items that could change anything, sorted by key and each key once, as the inbox demands.
    fn news<'p>(
        &self,
        page: &'p PageItems<'p>,
        rows: &HashMap<ResourceId, Resource>,
    ) -> BTreeMap<&'p str, &'p Item<'p>> {
        let news = page.items.iter().filter(|item| self.is_news(item, rows));
        news.map(|item| (item.key.as_str(), item)).collect()
    }

    /// Wakes the appliers; without it they find the events at their next poll.
    async fn hint(&self, client: &Client) {
        if let Err(error) = Channel::Inbox.notify(client).await {
            tracing::debug!(source = self.name, %error, "hint to the appliers lost");
        }
    }

    fn event<'a>(&'a self, item: &'a Item<'a>, origin: Origin, now: Timestamp) -> NewEvent<'a> {
        let envelope = &item.envelope;
        NewEvent {
            event_id: ids::new_id_in_order(now, item.at),
            source: &self.name,
            dedup_key: Some(&item.key),
            body_hash: match item.is_event {
                // Its webhook may still come, with other white space.
                true => db::inbox::NOT_COMPARABLE,
                false => db::inbox::body_hash(&envelope.body),
            },
            event_type: envelope.event_type.as_deref(),
            kind: envelope.kind.as_deref(),
            resource_id: envelope.resource_id.as_deref(),
            origin,
            received_at: now,
            headers: None,
            body: &envelope.body,
        }
    }
}
