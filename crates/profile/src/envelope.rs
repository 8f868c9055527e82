//! What the receiver stores of a request: one envelope for each event in it.

use std::borrow::Cow;

use crate::dedup;
use crate::document::{self, Documents, Unreadable};
use crate::profile::Profile;

/// A verified request.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// The body's bytes as they came.
    pub body: &'a [u8],
    /// The request's headers.
    pub headers: &'a dyn signature::Headers,
}

/// One event, as far as storing it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The exact bytes of this event: the whole body, or one element of a list of events.
    pub body: Cow<'a, [u8]>,
    /// What makes two deliveries the same event. Never absent now; a provider may ask for none later.
    pub dedup_key: Option<String>,
    /// The provider's name for what happened.
    pub event_type: Option<Cow<'a, str>>,
    /// What kind of thing the event is about; nothing when it cannot be read.
    pub kind: Option<&'a str>,
    /// The provider's id of that thing.
    pub resource_id: Option<Cow<'a, str>>,
}

impl<'a> Envelope<'a> {
    /// An event that cannot be read: stored with its bytes alone, so that nothing is lost.
    pub(crate) fn unreadable(body: &'a [u8]) -> Self {
        Self {
            dedup_key: Some(dedup::of_bytes(body)),
            body: Cow::Borrowed(body),
            event_type: None,
            kind: None,
            resource_id: None,
        }
    }

    /// Whether the event's structure could be read.
    pub fn is_readable(&self) -> bool {
        self.kind.is_some()
    }
}

impl Profile {
    /// What to store of a request, in the order of the events in it; always at least one envelope.
    ///
    /// Never fails: what cannot be read becomes an envelope of bytes alone, keyed by its SHA-256.
    pub fn envelopes<'a>(&'a self, request: &Incoming<'a>) -> Vec<Envelope<'a>> {
        let documents = document::text(request.body).and_then(document::split);
        match documents {
            Ok(Documents::One(text)) => vec![self.envelope(text, request.body, request.headers)],
            Ok(Documents::Many(texts)) => {
                texts.into_iter().map(|text| self.envelope(text, text.as_bytes(), request.headers)).collect()
            }
            Err(_) => vec![Envelope::unreadable(request.body)],
        }
    }

    fn envelope<'a>(
        &'a self,
        text: &'a str,
        bytes: &'a [u8],
        headers: &dyn signature::Headers,
    ) -> Envelope<'a> {
        self.readable(text, bytes, headers).unwrap_or_else(|_| Envelope::unreadable(bytes))
    }

    fn readable<'a>(
        &'a self,
        text: &'a str,
        bytes: &'a [u8],
        headers: &dyn signature::Headers,
    ) -> Result<Envelope<'a>, Unreadable> {
        let leaves = self.event.shape.extract(text)?;
        let identity = self.event.identify(&leaves, headers, &self.dedup)?;
        let key = identity.key.map_or_else(|| dedup::of_bytes(bytes), Cow::into_owned);
        Ok(Envelope {
            body: Cow::Borrowed(bytes),
            dedup_key: Some(key),
            event_type: identity.status,
            kind: Some(&self.event.kind),
            resource_id: identity.resource,
        })
    }
}
