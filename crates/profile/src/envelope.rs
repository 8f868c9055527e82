//! What the receiver stores of a request: one envelope for each event in it.

use std::borrow::Cow;

use crate::decode::{INFLATED_BYTES_MAX, MARK};
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
    /// What makes two deliveries the same event; nothing where every delivery is new.
    pub dedup_key: Option<String>,
    /// The provider's name for what happened.
    pub event_type: Option<Cow<'a, str>>,
    /// What kind of thing the event is about; nothing when it cannot be read.
    pub kind: Option<Cow<'a, str>>,
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
    /// The events of a verified request, each with what storing it needs.
    ///
    /// Never fails: what cannot be read is one envelope that says so by having no kind.
    pub fn envelopes<'a>(&'a self, request: &Incoming<'a>) -> Vec<Envelope<'a>> {
        self.envelopes_within(request, INFLATED_BYTES_MAX)
            .unwrap_or_else(|_| vec![Envelope::unreadable(request.body)])
    }

    /// As [`envelopes`](Self::envelopes), but a compressed body may become at most this large.
    ///
    /// # Errors
    /// It becomes larger.
    pub fn envelopes_within<'a>(
        &'a self,
        request: &Incoming<'a>,
        bytes_max: usize,
    ) -> Result<Vec<Envelope<'a>>, TooLarge> {
        let text = match self.decoding.text(request.body, request.headers, bytes_max) {
            Ok(text) => text,
            Err(Unreadable::TooLarge(_)) => return Err(TooLarge),
            Err(_) => return Ok(vec![Envelope::unreadable(request.body)]),
        };
        Ok(match text {
            Cow::Borrowed(text) => self.events(text, request),
            Cow::Owned(text) => {
                let events = self.events(&text, &Incoming { body: request.body, headers: request.headers });
                let mark = if self.decoding.recodes(request.headers) { MARK } else { &[] };
                events.into_iter().map(|event| event.detached(request.body, mark)).collect()
            }
        })
    }

    fn events<'a>(&'a self, text: &'a str, request: &Incoming<'a>) -> Vec<Envelope<'a>> {
        let documents = match &self.split {
            Some(split) => split.apply(text).map(Documents::Many),
            None => document::split(text),
        };
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

    /// An event that the provider's list told: as a webhook would have told it.
    pub(crate) fn event_envelope<'a>(
        &'a self,
        text: &'a str,
        bytes: &'a [u8],
    ) -> Result<Envelope<'a>, Unreadable> {
        self.readable(text, bytes, &())
    }

    fn readable<'a>(
        &'a self,
        text: &'a str,
        bytes: &'a [u8],
        headers: &dyn signature::Headers,
    ) -> Result<Envelope<'a>, Unreadable> {
        let leaves = self.event.shape.extract(text)?;
        let identity = self.event.identify(&leaves, headers)?;
        let key = match identity.keyless {
            true => None,
            false => Some(identity.key.map_or_else(|| dedup::of_bytes(bytes), Cow::into_owned)),
        };
        Ok(Envelope {
            body: Cow::Borrowed(bytes),
            dedup_key: key,
            event_type: identity.type_,
            kind: Some(Cow::Borrowed(identity.kind)),
            resource_id: identity.resource,
        })
    }
}

/// The body inflates to more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl Envelope<'_> {
    /// The same envelope, without borrowing from the decoded text. An event that is the whole request keeps its bytes
    /// as they came; another one is marked, where the request's headers would let it be read in the wrong way.
    fn detached<'a>(self, body: &'a [u8], mark: &[u8]) -> Envelope<'a> {
        let is_whole = std::ptr::eq(self.body.as_ptr(), body.as_ptr());
        Envelope {
            body: if is_whole { Cow::Borrowed(body) } else { Cow::Owned([mark, &self.body].concat()) },
            dedup_key: self.dedup_key,
            event_type: self.event_type.map(|text| Cow::Owned(text.into_owned())),
            kind: self.kind.map(|text| Cow::Owned(text.into_owned())),
            resource_id: self.resource_id.map(|text| Cow::Owned(text.into_owned())),
        }
    }
}
