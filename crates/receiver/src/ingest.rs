//! One request from its first byte to its answer.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CONTENT_LENGTH, CONTENT_TYPE},
    web::{Bytes, BytesMut, Data, Path, Payload},
};
use domain::Clock;
use futures_util::StreamExt;
use jiff::Timestamp;
use metrics::{Histogram, counter};
use profile::{Envelope, Incoming};
use service::{metrics as names, settings::ReceiverSettings};
use signature::Refusal;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use crate::{
    answer::Answer,
    authentic::{Judged, Suspect},
    budget::{Budget, Reserved},
    headers::RequestHeaders,
    pending::{Event, Pending, Queue, Stored},
    refused::{Refused, Sampler},
    sources::{Source, Sources},
};

/// What a worker needs to take requests in.
pub(crate) struct Ingest {
    pub(crate) sources: Arc<Sources>,
    pub(crate) queue: Queue,
    pub(crate) sampler: Sampler,
    pub(crate) budget: Budget,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Arc<ReceiverSettings>,
    pub(crate) request_seconds: Histogram,
}

/// `POST /webhooks/{source}`
pub(crate) async fn post(
    ingest: Data<Ingest>,
    name: Path<String>,
    request: HttpRequest,
    body: Payload,
) -> HttpResponse {
    let Some(source) = ingest.sources.get(name.as_str()) else {
        return ingest.respond(None, Answer::UnknownSource);
    };
    let answer = ingest.take(source, &request, body).await;
    ingest.respond(Some(source), answer)
}

/// `HEAD /webhooks/{source}`: how some providers try whether the address is alive.
pub(crate) async fn head(ingest: Data<Ingest>, name: Path<String>) -> HttpResponse {
    let source = ingest.sources.get(name.as_str());
    ingest.respond(source, if source.is_some() { Answer::Alive } else { Answer::UnknownSource })
}

/// Every other method: a challenge of the provider's, or not allowed.
pub(crate) async fn other(ingest: Data<Ingest>, name: Path<String>, request: HttpRequest) -> HttpResponse {
    let Some(source) = ingest.sources.get(name.as_str()) else {
        return ingest.respond(None, Answer::UnknownSource);
    };
    let answer = ingest.greet(source, &request);
    ingest.respond(Some(source), answer)
}

impl Ingest {
    fn respond(&self, source: Option<&Arc<Source>>, answer: Answer) -> HttpResponse {
        let profile = source.map(|source| source.profile.answers());
        match (&answer, source) {
            // The usual case has a counter that is looked up once.
            (Answer::Stored, Some(source)) => source.counters.stored_answers.increment(1),
            (_, source) => {
                let name = source.map_or_else(|| "unknown".to_owned(), |source| source.name.to_string());
                let status = answer.status(profile).as_u16().to_string();
                counter!(names::RECEIVER_REQUESTS, "source" => name, "status" => status).increment(1);
            }
        }
        let body = source.map_or("", |source| source.profile.success_body());
        answer.response(profile, body, self.settings.retry_after.get().as_secs().max(1))
    }

    async fn take(&self, source: &Arc<Source>, request: &HttpRequest, body: Payload) -> Answer {
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !source.profile.accepts(content_type) {
            return Answer::UnsupportedType;
        }
        // Held until the answer: the body waits for its commit in the committer's queue.
        let mut memory = self.budget.open();
        let body = match self.read(request, body, &mut memory).await {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let began = Instant::now();
        let now = self.clock.now();
        let suspect = Suspect { request, body: &body, now, bytes_max: self.settings.body_bytes_max };
        let answer = match suspect.judge(source, &mut memory) {
            Judged::Event => self.store(source, request, &body, now).await,
            Judged::Answered(answer) => return answer,
            Judged::Refused(refusal) => return self.refuse(source, request, refusal, body, now),
        };
        self.request_seconds.record(began.elapsed().as_secs_f64());
        answer
    }

    /// A request that delivers nothing: a challenge of the provider's, or not allowed.
    fn greet(&self, source: &Arc<Source>, request: &HttpRequest) -> Answer {
        let now = self.clock.now();
        let suspect = Suspect { request, body: b"", now, bytes_max: self.settings.body_bytes_max };
        if !suspect.is_handshake(source) {
            return Answer::MethodNotAllowed;
        }
        match suspect.judge(source, &mut self.budget.open()) {
            Judged::Event => Answer::MethodNotAllowed,
            Judged::Answered(answer) => answer,
            Judged::Refused(refusal) => self.refuse(source, request, refusal, Bytes::new(), now),
        }
    }

    fn refuse(
        &self,
        source: &Source,
        request: &HttpRequest,
        refusal: Refusal,
        body: Bytes,
        now: Timestamp,
    ) -> Answer {
        source.count_refusal(refusal);
        let headers = source.profile.keep(&RequestHeaders::of(request)).unwrap_or_else(|| "{}".to_owned());
        let reason = refusal.as_str();
        self.sampler.offer(Refused { source: source.name.clone(), refused_at: now, reason, headers, body });
        Answer::Refused
    }

    /// Reads the body as it comes over the wire, within its limits of size and time.
    async fn read(
        &self,
        request: &HttpRequest,
        body: Payload,
        memory: &mut Reserved,
    ) -> Result<Bytes, Answer> {
        let bytes_max = self.settings.body_bytes_max;
        let declared =
            request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if declared.is_some_and(|declared: usize| declared > bytes_max) {
            return Err(Answer::TooLarge);
        }
        let reading = read_up_to(body, declared.unwrap_or(0), bytes_max, memory);
        timeout(self.settings.body_timeout.get(), reading).await.unwrap_or(Err(Answer::SlowBody))
    }

    /// Hands the request to the committer and waits for the commit.
    async fn store(
        &self,
        source: &Arc<Source>,
        request: &HttpRequest,
        body: &Bytes,
        now: Timestamp,
    ) -> Answer {
        let headers = RequestHeaders::of(request);
        let incoming = Incoming { body, headers: &headers };
        let Ok(envelopes) = source.profile.envelopes_within(&incoming, self.settings.body_bytes_max) else {
            return Answer::TooLarge;
        };
        let events =
            envelopes.into_iter().enumerate().map(|(at, envelope)| event(at, envelope, body, now)).collect();
        let (stored, committed) = oneshot::channel();
        let pending = Pending {
            source: source.clone(),
            received_at: now,
            headers: source.profile.keep(&headers),
            events,
            stored,
        };
        if self.queue.push(pending).is_err() {
            return Answer::Unavailable;
        }
        match timeout(self.settings.store_timeout.get(), committed).await {
            Ok(Ok(Stored::Committed)) => Answer::Stored,
            Ok(Ok(Stored::Unavailable) | Err(_)) | Err(_) => Answer::Unavailable,
        }
    }
}

async fn read_up_to(
    mut body: Payload,
    declared: usize,
    bytes_max: usize,
    memory: &mut Reserved,
) -> Result<Bytes, Answer> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| Answer::BrokenBody)?;
        if whole.len() + chunk.len() > bytes_max {
            return Err(Answer::TooLarge);
        }
        if !memory.grow(chunk.len()) {
            return Err(Answer::Unavailable);
        }
        if whole.is_empty() && chunk.len() >= declared && declared > 0 {
            // The usual case: all of it came at once.
            return Ok(chunk);
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

fn event(at: usize, envelope: Envelope<'_>, whole: &Bytes, now: Timestamp) -> Event {
    let body = match envelope.body {
        std::borrow::Cow::Borrowed(part) => whole.slice_ref(part),
        std::borrow::Cow::Owned(part) => part.into(),
    };
    Event {
        event_id: db::ids::new_id_in_order(now, at),
        dedup_key: envelope.dedup_key,
        body_hash: db::inbox::body_hash(&body),
        event_type: envelope.event_type.map(std::borrow::Cow::into_owned),
        kind: envelope.kind.map(std::borrow::Cow::into_owned),
        resource_id: envelope.resource_id.map(std::borrow::Cow::into_owned),
        body,
    }
}
