//! Reads open resources again one by one, where the provider has no list that would tell of their changes.

use std::time::Duration;

use db::{
    inbox::Origin,
    resources::{self, Open},
};
use profile::{Get, ItemOf, Reread};

use crate::{
    Failure,
    backoff::{Backoff, about},
    page::PageItems,
    patience::Patience,
    provider::Looked,
    pull::Keeping,
    source::{SourceReader, before},
};

/// Ids read from the database at a time.
const CHUNK: i64 = 100;
/// Least wait after a round that failed.
const FAILED_MIN: Duration = Duration::from_secs(30);

/// Reads all open resources again and again until the stop; returns at once where the profile wants none.
pub(crate) async fn rounds(reader: &SourceReader) {
    let (Some(reread), Some(get)) = (&reader.api.reread, &reader.api.get) else { return };
    let shutdown = &reader.parts.shutdown;
    while !shutdown.is_triggered() {
        let pause = match reader.reread_with(reread, get).await {
            Ok(Reopened { resources, stored }) => {
                tracing::debug!(source = reader.name, resources, stored, "open resources read again");
                reread.every
            }
            Err(failure) => {
                tracing::error!(source = reader.name, error = %failure, "open resources not read again: {failure}");
                reread.every.min(FAILED_MIN)
            }
        };
        shutdown.sleep(about(pause)).await;
    }
}

/// What one round read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reopened {
    /// Resources asked for.
    pub resources: u64,
    /// Events that entered the inbox: what had changed.
    pub stored: u64,
}

impl SourceReader {
    /// Asks once for each open resource, and stores what changed. The round ends at the first that fails: the next one
    /// starts over.
    ///
    /// # Errors
    /// When the provider or the database refuses.
    pub async fn reread(&self) -> Result<Reopened, Failure> {
        match (&self.api.reread, &self.api.get) {
            (Some(reread), Some(get)) => self.reread_with(reread, get).await,
            _ => Ok(Reopened::default()),
        }
    }

    async fn reread_with(&self, reread: &Reread, get: &Get) -> Result<Reopened, Failure> {
        let mut done = Reopened::default();
        let mut after = String::new();
        loop {
            let Some(ids) = self.open_ids(reread, &after).await? else { return Ok(done) };
            for id in &ids {
                let Some(stored) = self.reread_one(get, id).await? else { return Ok(done) };
                done.resources += 1;
                done.stored += stored;
            }
            match ids.into_iter().next_back() {
                Some(last) => after = last,
                None => return Ok(done),
            }
        }
    }

    /// The next ids; nothing when the stop came first.
    async fn open_ids(&self, reread: &Reread, after: &str) -> db::Result<Option<Vec<String>>> {
        let open = Open {
            source: &self.name,
            kind: &reread.kind,
            statuses: &reread.statuses,
            since: before(self.now(), reread.max_age),
        };
        let mut patience = Patience::new(&self.name, &self.parts.shutdown);
        loop {
            let asked = async {
                let client = self.parts.pool.get().await?;
                resources::open(&client, &open, after, CHUNK).await
            };
            match asked.await {
                Ok(ids) => return Ok(Some(ids)),
                Err(error) => {
                    if !patience.bear(error).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// How many events one resource brought; nothing when the stop came first.
    async fn reread_one(&self, get: &Get, id: &str) -> Result<Option<u64>, Failure> {
        let path = get.path_of(id, &self.provider.constants);
        let mut backoff = Backoff::new(self.settings());
        let body = loop {
            let asked = self.provider.look_up(&self.api, &path, &GONE, &self.parts.clock);
            match self.parts.shutdown.unless_triggered(asked).await {
                None => return Ok(None),
                Some(Ok(Looked::Body(body))) => break body,
                // It says nothing about the resource: what does not exist has no status.
                Some(Ok(Looked::Missing(status))) => {
                    tracing::warn!(
                        source = self.name,
                        path,
                        status,
                        "the provider does not know an open resource"
                    );
                    return Ok(Some(0));
                }
                Some(Err(trouble)) => self.bear(&mut backoff, trouble).await?,
            }
        };
        let now = self.now();
        let items = get.read(&body)?.into_iter().enumerate();
        let items = items.map(|(at, item)| self.read_item(&ItemOf::Item, at, item, now)).collect();
        let page = PageItems { items, newest: None, is_beyond: false };
        let stored = self.store(&page, Origin::Reconcile, Keeping::Store, None).await?;
        Ok(stored.map(|stored| stored.events))
    }
}

const GONE: [u16; 2] = [404, 410];
