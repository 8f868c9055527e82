//! Kind `nats`: one `JetStream` message for each effect, acknowledged by the stream that keeps it.
//!
//! `Nats-Msg-Id` is the effect's id, so a stream drops what it has seen within its duplicate window; a consumer that
//! looks at the id drops the rest.
//!
//! | What happens | Meaning |
//! |---|---|
//! | an acknowledgement, also of a duplicate | delivered |
//! | no stream takes the subject, the stream refuses (full, sealed), no acknowledgement in time, no connection | transient: an operator mends it |
//! | the subject cannot be made of this effect, the message is larger than the server takes | permanent |

mod address;
mod link;
mod named_verifier;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::jetstream::{
    context::{PublishError, PublishErrorKind},
    message::PublishMessage,
};
use futures_util::future::BoxFuture;
use service::{
    AddressGuard, Escape, Template,
    settings::{NatsSettings, PublisherSettings},
};

use self::{address::LiveAddress, link::Link};
use crate::{
    answer::Answer,
    message::Message,
    transport::{Delivery, Transport},
};

/// Longest subject, in bytes: what servers take by default together with all else in a line.
const SUBJECT_BYTES_MAX: usize = 1024;

/// A NATS server with `JetStream`.
pub(crate) struct Nats {
    subject: Template,
    address: Mutex<LiveAddress>,
    guard: AddressGuard,
    connect_timeout: Duration,
    link: tokio::sync::Mutex<Option<Arc<Link>>>,
}

impl Nats {
    /// Reads the subject's template, the server's address and the credentials. Connects with the first effect.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub(crate) fn new(settings: &NatsSettings, publisher: &PublisherSettings) -> anyhow::Result<Self> {
        let subject = Template::compile(&settings.subject, Escape::Subject);
        Ok(Self {
            subject: subject.map_err(|reason| anyhow::anyhow!("subject: {reason}"))?,
            address: Mutex::new(LiveAddress::resolve(settings)?),
            guard: AddressGuard::new(publisher.allow_addresses.0.clone()),
            connect_timeout: publisher.connect_timeout.get(),
            link: tokio::sync::Mutex::default(),
        })
    }

    async fn publish(&self, delivery: Delivery<'_>) -> Answer {
        let message = Message::of(delivery.effect);
        let subject = match self.subject.render(&message).and_then(fit) {
            Ok(subject) => subject,
            Err(reason) => return Answer::permanent(&format!("subject: {reason}")),
        };
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Ordem-Type", one_line(message.event_type()));
        headers.insert("Ordem-Timestamp", delivery.effect.created_at.to_string());
        headers.insert("Content-Type", "application/json");
        let publish = PublishMessage::build()
            .headers(headers)
            .message_id(delivery.effect.effect_id.to_string())
            .payload(message.to_json().into());
        match tokio::time::timeout(delivery.time, self.acknowledged(&subject, publish)).await {
            Ok(answer) => answer,
            Err(_) => Answer::transient(
                "no acknowledgement in time: the server is slow, or this user may not publish to the subject",
            ),
        }
    }

    async fn acknowledged(&self, subject: &str, publish: PublishMessage) -> Answer {
        let link = match self.link().await {
            Ok(link) => link,
            Err(reason) => return Answer::transient(&reason),
        };
        let answered = async { link.stream.send_publish(subject.to_owned(), publish).await?.await };
        let published = tokio::select! {
            published = answered => published,
            () = link.lost() => return Answer::transient("the connection broke before the acknowledgement"),
        };
        match published {
            Ok(_) => Answer::delivered(),
            Err(error) => refused(subject, &error),
        }
    }

    /// The connection in force; a new one when it was lost or the address has changed. Those that come meanwhile wait
    /// for the one that dials, within their own time.
    async fn link(&self) -> Result<Arc<Link>, String> {
        let mut held = self.link.lock().await;
        let address = self.address.lock().unwrap_or_else(PoisonError::into_inner).current();
        if let Some(link) = held.as_ref().filter(|link| !link.is_lost() && link.goes_to(&address)) {
            return Ok(link.clone());
        }
        *held = None;
        let opened = tokio::time::timeout(self.connect_timeout, Link::open(address, &self.guard)).await;
        let link = Arc::new(opened.map_err(|_| "no connection to the NATS server in time".to_owned())??);
        *held = Some(link.clone());
        Ok(link)
    }
}

impl Transport for Nats {
    fn carry<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(self.publish(delivery))
    }
}

/// A subject that can be published to, and is nobody's but the streams'.
fn fit(subject: String) -> Result<String, String> {
    let reserved = subject.starts_with('$') || subject.starts_with("_INBOX.");
    let no_token = |token: &str| {
        token.is_empty()
            || token.contains(['*', '>'])
            || token.chars().any(|c| c.is_whitespace() || c.is_control())
    };
    if subject.len() > SUBJECT_BYTES_MAX {
        Err(format!("it has {} bytes, {SUBJECT_BYTES_MAX} are allowed", subject.len()))
    } else if reserved {
        Err("it begins like the server's own subjects".to_owned())
    } else if subject.split('.').any(no_token) {
        Err("it has an empty part, a wildcard or a blank".to_owned())
    } else {
        Ok(subject)
    }
}

/// A header's value: what would end its line becomes a blank.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn refused(subject: &str, error: &PublishError) -> Answer {
    match error.kind() {
        PublishErrorKind::MaxPayloadExceeded => {
            Answer::permanent("the message is larger than the server takes (its max_payload)")
        }
        PublishErrorKind::StreamNotFound => Answer::transient(&format!(
            "no stream takes the subject {subject}: add one that does, and see that the server runs with JetStream"
        )),
        PublishErrorKind::TimedOut => Answer::transient("no acknowledgement in time"),
        PublishErrorKind::BrokenPipe => Answer::transient("the connection broke"),
        PublishErrorKind::WrongLastMessageId
        | PublishErrorKind::WrongLastSequence
        | PublishErrorKind::MaxAckPending
        | PublishErrorKind::Other => Answer::transient(&format!("not kept by the stream: {}", cause(error))),
    }
}

fn cause(error: &PublishError) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_tokens_with_dots_between() {
        for good in ["ordem", "ordem.order.receipt", "a.b-c_d.é"] {
            assert!(fit(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", ".", "a.", ".a", "a..b", "a.*", "a.>", "a b", "a\r\nPUB x 0", "$JS.API.x", "_INBOX.x"]
        {
            assert!(fit(bad.to_owned()).is_err(), "{bad:?}");
        }
        assert!(fit("a".repeat(SUBJECT_BYTES_MAX + 1)).is_err());
    }
}
