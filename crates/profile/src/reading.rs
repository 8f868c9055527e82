//! From a stored event to a fact, or the reason why there is none.

use std::borrow::Cow;

use domain::{Fact, Flow, Origin, ResourceId};
use jiff::Timestamp;

use crate::dedup::Dedup;
use crate::document::{self, Unreadable};
use crate::field;
use crate::leaf::Leaf;
use crate::profile::Profile;
use crate::reader::Reader;
use crate::shape::Leaves;

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
        let reading = match stored.origin {
            Origin::Webhook => self.read_with(&self.event, &self.dedup, None, stored, flow_of),
            Origin::Reconcile | Origin::Backfill => match &self.api {
                Some(api) => {
                    let type_ = Some(api.event_type.as_str());
                    self.read_with(&api.item, &Dedup(Vec::new()), type_, stored, flow_of)
                }
                None => {
                    Err(NoFact::Malformed("the profile says nothing about the provider's API".to_owned()))
                }
            },
        };
        reading.unwrap_or_else(Reading::from)
    }

    /// Reads by one reader's rules.
    fn read_with<'f>(
        &self,
        reader: &Reader,
        dedup: &Dedup,
        event_type: Option<&str>,
        stored: &Stored<'_>,
        flow_of: &dyn Fn(&str) -> Option<&'f Flow>,
    ) -> Result<Reading, NoFact> {
        let leaves = document::text(stored.body).and_then(|text| single(reader, text)).map_err(malformed)?;
        let identity = reader.identify(&leaves, stored.headers, dedup).map_err(malformed)?;
        reader.refuse_tests(&leaves, stored.headers)?;
        let told = identity.status.ok_or_else(|| malformed(format!("{} is missing", reader.status)))?;
        let status = reader.statuses.get(told.as_ref()).ok_or_else(|| unknown(&told, event_type))?;
        let id = identity.resource.ok_or_else(|| malformed(format!("{} is missing", reader.resource)))?;
        let rank = rank(&reader.kind, status, flow_of)?;
        let version = self
            .version
            .version(&reader.version, &leaves, stored.headers, rank, stored.received_at)
            .map_err(malformed)?;
        let fields = field::read(&reader.fields, &leaves).map_err(malformed)?;
        let resource =
            ResourceId { source: stored.source.to_owned(), kind: reader.kind.clone(), id: id.into_owned() };
        let event_type = event_type.map_or(told, Cow::Borrowed).into_owned();
        let event_key = stored.event_key.to_owned();
        let fact = Fact { version, status: status.clone(), fields, event_type, event_key };
        Ok(Reading::Fact { resource, fact })
    }
}

impl Reader {
    /// Stops at the first mark of a test event.
    fn refuse_tests(&self, leaves: &Leaves<'_>, headers: &dyn signature::Headers) -> Result<(), NoFact> {
        for (place, mark) in &self.tests {
            let marked = match place.leaf(leaves, headers).map_err(malformed)? {
                Leaf::Text(text) => text.eq_ignore_ascii_case(mark),
                Leaf::Number(digits) => digits == mark,
                Leaf::Boolean(value) => value.to_string() == *mark,
                Leaf::Absent | Leaf::Null | Leaf::Composite(_) => false,
            };
            if marked {
                return Err(NoFact::Test(format!("{place} is {mark}: a test event")));
            }
        }
        Ok(())
    }
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

/// An event type (or an item's status) that the profile does not list.
fn unknown(told: &str, item: Option<&str>) -> NoFact {
    let what = if item.is_some() { "status" } else { "event type" };
    NoFact::Ignored(format!("unknown {what} {told:?}"))
}
