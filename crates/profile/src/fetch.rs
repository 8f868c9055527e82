//! Thin events: where the provider is asked, and what its answer means.

use std::borrow::Cow;
use std::time::Duration;

use domain::Flow;

use crate::api::{Get, encoded, with_constants};
use crate::document;
use crate::page::{PageError, PageShape};
use crate::profile::Profile;
use crate::reading::{Reading, Stored};
use crate::xml;

/// Most resources read from one answer.
const ITEMS_MAX: usize = 1_000;
/// How long an answer is not yet believed, unless the profile says otherwise.
pub(crate) const WAIT: Duration = Duration::from_secs(120);

/// One way of asking the provider for its own word.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub(crate) path: String,
    pub(crate) reader: Option<String>,
    pub(crate) is_list: bool,
    /// Whether answers are XML.
    pub(crate) is_xml: bool,
    pub(crate) place: PageShape,
    /// Statuses that mean that there is no such thing.
    pub missing: Vec<u16>,
    /// How long such an answer is not yet believed.
    pub missing_for: Duration,
    /// How long an answer below the expected status is not yet believed.
    pub settle: Duration,
    /// Wait before the first call.
    pub delay: Duration,
}

impl Fetch {
    /// The path below the API's base URL for one resource.
    pub fn path_of(&self, id: &str, constants: &[(String, String)]) -> String {
        with_constants(&self.path.replace("{id}", &encoded(id)), constants, encoded)
    }
}

/// The name of the look-up that settles what two facts of one moment tell differently. No table can have it.
pub const TIE: &str = ":tie";

impl Fetch {
    /// Reads a resource as `[api.get]` does.
    pub(crate) fn of_tie(get: &Get) -> Self {
        Self {
            path: get.path.clone(),
            reader: None,
            is_list: get.is_list,
            place: get.item.clone(),
            is_xml: false,
            missing: vec![404, 410],
            missing_for: WAIT,
            settle: WAIT,
            delay: Duration::ZERO,
        }
    }
}

impl Profile {
    /// Whether any event can make the provider be asked.
    pub fn fetches_any(&self) -> bool {
        !self.fetches.is_empty() || self.tie.is_some()
    }

    /// Whether the provider is asked where two facts of one moment differ.
    pub fn settles_ties(&self) -> bool {
        self.tie.is_some()
    }

    /// The names of all look-ups.
    pub fn fetch_names(&self) -> impl Iterator<Item = &str> {
        self.fetches.keys().map(String::as_str)
    }

    /// The look-up of this name.
    pub fn fetch(&self, name: &str) -> Option<&Fetch> {
        if name == TIE { self.tie.as_ref() } else { self.fetches.get(name) }
    }

    /// What the provider's answer to a look-up tells, in the place of the thin event that asked for it: one reading
    /// for each resource in it.
    ///
    /// # Errors
    /// The answer is not what the profile describes.
    pub fn read_answer<'f>(
        &self,
        fetch: &Fetch,
        stored: &Stored<'_>,
        event_type: &str,
        answer: &[u8],
        flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
    ) -> Result<Vec<Reading>, PageError> {
        let answer = match fetch.is_xml {
            true => Cow::Owned(xml::json(answer)?.into_bytes()),
            false => Cow::Borrowed(answer),
        };
        let raw = fetch.place.raw(&answer, if fetch.is_list { "a list" } else { "an object" })?;
        let items = match fetch.is_list {
            true => document::elements(raw, ITEMS_MAX)?,
            false => vec![raw],
        };
        let Some(reader) = self.item_reader(fetch.reader.as_deref()) else { return Ok(Vec::new()) };
        let read = |item: &str| {
            let stored = Stored { body: item.as_bytes(), headers: &(), ..*stored };
            self.read_item(reader, event_type, &stored, flow_of)
        };
        Ok(items.into_iter().map(read).collect())
    }
}
