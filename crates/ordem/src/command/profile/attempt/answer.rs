//! An answer of the provider's API, read as the reconciler would.

use std::collections::BTreeSet;

use profile::{ItemOf, Origin, PageError, Profile, Stored};

use super::event::{Event, Maker};
use crate::failure::BadInput;

/// What an answer is an answer to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reader {
    /// A page of the list with this name.
    List(String),
    /// `[api.get]`
    Get,
    /// `[fetch.NAME]`
    Fetch(String),
    /// No answer as a whole: one item.
    Item(ItemOf),
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Read {
    /// As what, for people and for `--reader`.
    pub(crate) reader: String,
    pub(crate) events: Vec<Event>,
    /// What asks for the next page.
    pub(crate) next: Option<String>,
}

/// Reads an answer; why it is none is told as text.
///
/// # Errors
/// There is no such reader.
pub(crate) fn read(
    maker: &Maker<'_>,
    reader: Option<&str>,
    answer: &[u8],
    headers: &[(String, String)],
) -> Result<(Read, Option<PageError>), BadInput> {
    let (name, reader) = choose(maker.profile, reader)?;
    let mut read = Read { reader: name, events: Vec::new(), next: None };
    match fill(maker, &reader, answer, headers, &mut read) {
        Ok(()) => Ok((read, None)),
        Err(Stop::NoAnswer(error)) => Ok((read, Some(error))),
        Err(Stop::BadInput(error)) => Err(error),
    }
}

/// Why reading ends before its end.
enum Stop {
    NoAnswer(PageError),
    BadInput(BadInput),
}

impl From<PageError> for Stop {
    fn from(error: PageError) -> Self {
        Self::NoAnswer(error)
    }
}

impl From<BadInput> for Stop {
    fn from(error: BadInput) -> Self {
        Self::BadInput(error)
    }
}

fn fill(
    maker: &Maker<'_>,
    reader: &Reader,
    answer: &[u8],
    headers: &[(String, String)],
    read: &mut Read,
) -> Result<(), Stop> {
    let api = maker.profile.api();
    let (items, of) = match reader {
        Reader::Fetch(name) => return look_up(maker, name, answer, read),
        Reader::Item(of) => (vec![answer], of.clone()),
        Reader::Get => {
            let Some(get) = api.and_then(|api| api.get.as_ref()) else { return Ok(()) };
            (get.read(answer)?, ItemOf::Item)
        }
        Reader::List(name) => {
            let list = api.and_then(|api| api.lists.iter().find(|list| list.name == *name));
            let Some(list) = list else { return Ok(()) };
            let header = |wanted: &str| {
                let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
                found.map(|(_, value)| value.clone())
            };
            let page = list.page(None, answer, &header)?;
            read.next = page.next;
            (page.items, list.items.clone())
        }
    };
    for item in items {
        let envelope = maker.profile.api_envelope(&of, item);
        read.events.push(maker.event(Origin::Reconcile, &envelope, &())?);
    }
    Ok(())
}

/// In the place of the thin event that asked for it.
fn look_up(maker: &Maker<'_>, name: &str, answer: &[u8], read: &mut Read) -> Result<(), Stop> {
    let Some(fetch) = maker.profile.fetch(name) else { return Ok(()) };
    let stored = Stored {
        source: maker.source,
        origin: Origin::Webhook,
        body: b"",
        headers: &(),
        event_type: None,
        event_key: "",
        received_at: maker.now,
    };
    for reading in maker.profile.read_answer(fetch, &stored, "", answer, &|kind| maker.flow(kind))? {
        read.events.push(maker.told(reading)?);
    }
    Ok(())
}

/// The reader of this name, or the one that is meant without any.
fn choose(profile: &Profile, wanted: Option<&str>) -> Result<(String, Reader), BadInput> {
    let readers = readers(profile);
    let of_all = || {
        let names: Vec<&str> = readers.iter().map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "none: it has neither [api] nor [fetch]".to_owned() } else { names.join(", ") }
    };
    let Some(wanted) = wanted else {
        let first = readers.first().cloned();
        return first.ok_or_else(|| BadInput::new("the profile says nothing about the provider's API"));
    };
    // `list` alone is enough where there is one.
    let is_wanted = |name: &str| name == wanted || (wanted == "list" && name.starts_with("list:"));
    let found: Vec<_> = readers.iter().filter(|(name, _)| is_wanted(name)).collect();
    match found.as_slice() {
        [(name, reader)] => Ok((name.clone(), reader.clone())),
        [] => Err(BadInput::new(format!("--reader: no \"{wanted}\" (there are: {})", of_all()))),
        _ => Err(BadInput::new(format!("--reader: there are several lists: {}", of_all()))),
    }
}

/// All that the profile can read, what is most often meant first.
fn readers(profile: &Profile) -> Vec<(String, Reader)> {
    let api = profile.api();
    let mut readers = Vec::new();
    for list in api.into_iter().flat_map(|api| &api.lists) {
        readers.push((format!("list:{}", list.name), Reader::List(list.name.clone())));
    }
    if api.is_some_and(|api| api.get.is_some()) {
        readers.push(("get".to_owned(), Reader::Get));
    }
    let fetches = profile.fetch_names().map(|name| (format!("fetch:{name}"), Reader::Fetch(name.to_owned())));
    readers.extend(fetches);
    let names: BTreeSet<&str> = profile.reader_names().collect();
    if api.is_some_and(|api| api.has_item()) {
        readers.push(("item".to_owned(), Reader::Item(ItemOf::Item)));
    }
    if api.is_some_and(|api| api.lists.iter().any(|list| list.items == ItemOf::Event)) {
        readers.push(("event".to_owned(), Reader::Item(ItemOf::Event)));
    }
    readers.extend(
        names.into_iter().map(|name| (name.to_owned(), Reader::Item(ItemOf::Named(name.to_owned())))),
    );
    readers
}
