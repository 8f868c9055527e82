//! From a stored event to a fact, or the reason why there is none.

use std::borrow::Cow;

use domain::{Fact, Flow, Origin, ResourceId};
use jiff::Timestamp;

use crate::decode::INFLATED_BYTES_MAX;
use crate::document::{self, Unreadable};
use crate::field;
use crate::list::ItemOf;
use crate::profile::Profile;
use crate::reader::{Reader, identifier};
use crate::rule::{Action, Rule, StatusOf};
use crate::shape::Leaves;
use crate::spec::Unknown;

/// An event as the inbox keeps it.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// The configured source it came by.
    pub source: &'a str,
    /// Where it came from.
    pub origin: Origin,
    /// Its bytes.
    pub body: &'a [u8],
    /// The headers kept with it.
    pub headers: &'a dyn signature::Headers,
    /// The type it was stored under.
    pub event_type: Option<&'a str>,
    /// Its dedup key.
    pub event_key: &'a str,
    /// When it arrived.
    pub received_at: Timestamp,
}

/// What a stored event means. The reasons name the input and are meant for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It tells something about a resource.
    Fact {
        /// The resource.
        resource: ResourceId,
        /// What it tells.
        fact: Fact,
    },
    /// It only says that something happened: the provider has to be asked.
    Fetch {
        /// What to ask for.
        resource: ResourceId,
        /// Which `[fetch.NAME]` says how.
        fetch: String,
        /// The status that the provider must have reached at least.
        expect: Option<String>,
        /// The event's type.
        event_type: String,
    },
    /// Authentic, and not for us.
    Ignored(String),
    /// A test of the provider's: never takes effect.
    Test(String),
    /// Authentic, and set aside because it cannot be understood.
    Malformed(String),
}

/// Any outcome but a fact: small, so that it can be an error on the way.
enum NoFact {
    Ignored(String),
    Test(String),
    Malformed(String),
}

impl From<NoFact> for Reading {
    fn from(outcome: NoFact) -> Self {
        match outcome {
            NoFact::Ignored(reason) => Self::Ignored(reason),
            NoFact::Test(reason) => Self::Test(reason),
            NoFact::Malformed(reason) => Self::Malformed(reason),
        }
    }
}

impl Profile {
    /// Reads a stored event; `flow_of` gives the flow of a kind, for the rank of its statuses.
    ///
    /// Never panics, whatever the bytes are, and never asks the machine's clock or zone.
    pub fn read<'f>(&self, stored: &Stored<'_>, flow_of: &dyn Fn(&str) -> Option<&'f Flow>) -> Reading {
        let as_event = || self.read_with(&self.event, None, stored, flow_of).unwrap_or_else(Reading::from);
        let Some(api) = self.api.as_ref().filter(|_| stored.origin != Origin::Webhook) else {
            return match stored.origin {
                Origin::Webhook => as_event(),
                Origin::Reconcile | Origin::Backfill => {
                    Reading::Malformed("the profile says nothing about the provider's API".to_owned())
                }
            };
        };
        let (reader, event_type) = match self.item_of(stored.event_type) {
            ItemOf::Event => return as_event(),
            ItemOf::Item => (api.item.as_ref(), api.event_type.clone()),
            ItemOf::Named(name) => (self.items.get(&name), stored.event_type.unwrap_or_default().to_owned()),
        };
        match reader {
            Some(reader) => self.read_item(reader, &event_type, stored, flow_of),
            None => Reading::Malformed("the profile has no [api.item]".to_owned()),
        }
    }

    /// Reads one item of the provider's API.
    pub(crate) fn read_item<'f>(
        &self,
        reader: &Reader,
        event_type: &str,
        stored: &Stored<'_>,
        flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
    ) -> Reading {
        self.read_with(reader, Some(event_type), stored, flow_of).unwrap_or_else(Reading::from)
    }

    /// Reads by one reader's rules.
    fn read_with<'f>(
        &self,
        reader: &Reader,
        item_type: Option<&str>,
        stored: &Stored<'_>,
        flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
    ) -> Result<Reading, NoFact> {
        // What the API answers is JSON, however the provider writes what it sends.
        let text = match item_type {
            Some(_) => document::text(stored.body).map(Cow::Borrowed),
            None => self.decoding.text(stored.body, stored.headers, INFLATED_BYTES_MAX),
        };
        let text = text.map_err(malformed)?;
        let leaves = single(reader, &text).map_err(malformed)?;
        let told = reader.type_of(&leaves, stored.headers).map_err(malformed)?;
        reader.refuse_tests(&leaves, stored.headers)?;
        let event_type = match (item_type, told) {
            (Some(type_), _) => {
                leaves.know_type(Cow::Owned(type_.to_owned()));
                Cow::Borrowed(type_)
            }
            (None, Some(type_)) => type_,
            (None, None) => return Err(malformed(format!("{} is missing", name(reader)))),
        };
        let rule = reader.rules.deciding(&event_type, &leaves, stored.headers);
        let rule = rule.ok_or_else(|| reader.unmatched(&event_type, item_type.is_some()))?;
        // A part that cannot be a part of a key makes the event one that cannot be known again.
        rule.dedup.key(&leaves, stored.headers).map_err(malformed)?;
        let resource = |rule: &Rule| -> Result<ResourceId, NoFact> {
            let id = identifier(&rule.resource, &leaves, stored.headers).map_err(malformed)?;
            let id = id.ok_or_else(|| malformed(format!("{} is missing", rule.resource)))?.into_owned();
            Ok(ResourceId { source: stored.source.to_owned(), kind: rule.kind.clone(), id })
        };
        match &rule.action {
            Action::Ignore(reason) => Err(NoFact::Ignored(reason.clone())),
            Action::Fetch { name, expect } => Ok(Reading::Fetch {
                resource: resource(rule)?,
                fetch: name.clone(),
                expect: expect.clone(),
                event_type: event_type.into_owned(),
            }),
            Action::Fact(status) => {
                let status = status.read(&leaves, stored.headers, item_type.is_some())?;
                let resource = resource(rule)?;
                let fact = self.fact(rule, status, &leaves, stored, &event_type, flow_of)?;
                Ok(Reading::Fact { resource, fact })
            }
        }
    }

    fn fact<'f>(
        &self,
        rule: &Rule,
        status: String,
        leaves: &Leaves<'_>,
        stored: &Stored<'_>,
        event_type: &str,
        flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
    ) -> Result<Fact, NoFact> {
        let rank = rank(&rule.kind, &status, flow_of)?;
        let version = self
            .version
            .version(&rule.version, leaves, stored.headers, rank, stored.received_at)
            .map_err(malformed)?;
        let fields = field::read(&rule.fields, leaves, stored.headers).map_err(malformed)?;
        let event_key = stored.event_key.to_owned();
        let growing = rule.fields.iter().filter(|field| field.grows && fields.contains_key(&field.name));
        let growing = growing.map(|field| field.name.clone()).collect();
        Ok(Fact { version, status, fields, growing, event_type: event_type.to_owned(), event_key })
    }
}

impl StatusOf {
    fn read(
        &self,
        leaves: &Leaves<'_>,
        headers: &dyn signature::Headers,
        of_item: bool,
    ) -> Result<String, NoFact> {
        let (place, map, unknown) = match self {
            Self::Fixed(status) => return Ok(status.clone()),
            Self::Mapped { place, map, unknown } => (place, map, *unknown),
        };
        let told = identifier(place, leaves, headers).map_err(malformed)?;
        let told = told.ok_or_else(|| malformed(format!("{place} is missing")))?;
        let what = if of_item { "status".to_owned() } else { format!("status at {place}") };
        map.get(told.as_ref()).cloned().ok_or_else(|| not_listed(unknown, format!("unknown {what} {told:?}")))
    }
}

impl Reader {
    /// Stops at the first mark of a test event.
    fn refuse_tests(&self, leaves: &Leaves<'_>, headers: &dyn signature::Headers) -> Result<(), NoFact> {
        for (place, mark) in &self.tests {
            if mark.stands(place, leaves, headers).map_err(malformed)? {
                let stands = match mark {
                    crate::reader::Mark::Equals(text) => format!("is {text}"),
                    crate::reader::Mark::Present => "is there".to_owned(),
                };
                return Err(NoFact::Test(format!("{place} {stands}: a test event")));
            }
        }
        Ok(())
    }

    fn unmatched(&self, event_type: &str, of_item: bool) -> NoFact {
        if of_item {
            return NoFact::Ignored("no rule of the profile matches the item".to_owned());
        }
        not_listed(self.unknown, format!("unknown event type {event_type:?}"))
    }
}

fn not_listed(unknown: Unknown, reason: String) -> NoFact {
    match unknown {
        Unknown::Ignore => NoFact::Ignored(reason),
        Unknown::Malformed => NoFact::Malformed(reason),
    }
}

fn name(reader: &Reader) -> String {
    reader.type_.as_ref().map_or_else(|| "the type".to_owned(), ToString::to_string)
}

/// Reads one event's text; a body that holds several is never stored as one unless it cannot be read.
fn single<'a>(reader: &Reader, text: &'a str) -> Result<Leaves<'a>, Unreadable> {
    match document::first_letter(text) {
        Some(b'[') => match document::split(text) {
            Err(reason) => Err(reason),
            Ok(_) => Err(Unreadable::NotAnEvent("a list of events")),
        },
        _ => reader.shape.extract(text),
    }
}

/// The rank of a status in its kind's flow.
fn rank<'f>(kind: &str, status: &str, flow_of: &dyn Fn(&str) -> Option<&'f Flow>) -> Result<u8, NoFact> {
    let flow = flow_of(kind).ok_or_else(|| malformed(format!("no flow is configured for kind {kind:?}")))?;
    flow.rank(status).ok_or_else(|| malformed(format!("the flow of kind {kind:?} has no status {status:?}")))
}

fn malformed(reason: impl ToString) -> NoFact {
    NoFact::Malformed(reason.to_string())
}
