//! Whether a request is the provider's, and whether it is an event at all.

use actix_web::{HttpRequest, http::header::CONTENT_ENCODING};
use jiff::Timestamp;
use profile::{Handshake, Incoming, TooLarge};
use signature::{Refusal, Request, Target};

use crate::{
    answer::Answer,
    budget::{Reserved, inflated_most},
    headers::RequestHeaders,
    sources::Source,
};

/// What a request turned out to be.
pub(crate) enum Judged {
    /// The provider's, and to be stored.
    Event,
    /// To be answered so, and not stored.
    Answered(Answer),
    /// Not the provider's.
    Refused(Refusal),
}

/// One request before anything in it is believed.
pub(crate) struct Suspect<'a> {
    pub(crate) request: &'a HttpRequest,
    pub(crate) body: &'a [u8],
    pub(crate) now: Timestamp,
    /// Most that a compressed body may become.
    pub(crate) bytes_max: usize,
}

impl Suspect<'_> {
    /// Looks at handshakes and signatures. What is compressed is inflated only after it was verified, unless the
    /// signatures stand inside; and only where `memory` has room for the most that it can become.
    pub(crate) fn judge(&self, source: &Source, memory: &mut Reserved) -> Judged {
        let headers = RequestHeaders::of(self.request);
        let is_compressed = self.request.headers().contains_key(CONTENT_ENCODING);
        let early = if is_compressed { None } else { self.handshake(source, &headers) };
        if let Some(handshake) = early.filter(|handshake| !handshake.signed) {
            return Judged::Answered(greeting(handshake, &headers));
        }
        let signed =
            Request::new(&headers, self.body, self.now.as_second()).to(self.target(source, &headers));
        if source.verifies_items {
            if let Err(judged) = self.verify_items(source, &signed, is_compressed, memory) {
                return judged;
            }
        } else if let Err(refusal) = source.verify(&signed) {
            return Judged::Refused(refusal);
        }
        if is_compressed && !source.verifies_items && !memory.grow(self.inflated_most()) {
            return Judged::Answered(Answer::Unavailable);
        }
        let late = if is_compressed { self.handshake(source, &headers) } else { early };
        late.map_or(Judged::Event, |handshake| Judged::Answered(greeting(handshake, &headers)))
    }

    /// Whether it is a handshake, signed or not.
    pub(crate) fn is_handshake(&self, source: &Source) -> bool {
        self.handshake(source, &RequestHeaders::of(self.request)).is_some()
    }

    fn verify_items(
        &self,
        source: &Source,
        signed: &Request<'_>,
        is_compressed: bool,
        memory: &mut Reserved,
    ) -> Result<(), Judged> {
        if is_compressed && !memory.grow(self.inflated_most()) {
            return Err(Judged::Answered(Answer::Unavailable));
        }
        let incoming = Incoming { body: signed.body, headers: signed.headers };
        let items = source
            .profile
            .envelopes_within(&incoming, self.bytes_max)
            .map_err(|TooLarge| Judged::Answered(Answer::TooLarge))?;
        source.verify_items(signed, &items).map_err(Judged::Refused)
    }

    fn handshake<'s>(&self, source: &'s Source, headers: &RequestHeaders<'_>) -> Option<&'s Handshake> {
        source.profile.handshake(self.request.method().as_str(), headers, self.body, self.bytes_max)
    }

    fn target<'a>(&'a self, source: &'a Source, headers: &RequestHeaders<'a>) -> Target<'a> {
        Target {
            method: self.request.method().as_str(),
            path: self.request.path(),
            query: headers.query_text(),
            url: &source.public_url,
            constants: &source.constants,
        }
    }

    fn inflated_most(&self) -> usize {
        inflated_most(self.body.len(), self.bytes_max)
    }
}

fn greeting(handshake: &Handshake, headers: &RequestHeaders<'_>) -> Answer {
    Answer::Greeted { status: handshake.status, body: handshake.body(headers) }
}
