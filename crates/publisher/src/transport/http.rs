//! Kind `http`: one signed request for each effect.

mod read;
mod success;
mod target;

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use reqwest::{Method, RequestBuilder, header};
use service::{
    AddressGuard,
    outbound::{self, CallError, Client},
    settings::{Care, HttpMethod, HttpSettings, PublisherSettings, Signing},
};

use self::{
    read::Reader,
    target::{LiveTarget, Target},
};
use crate::{
    answer::Answer,
    message,
    transport::{Delivery, Transport},
};

/// A destination that is called by HTTP. Connections are kept and shared; HTTP/2 is spoken where TLS agrees on it.
pub(crate) struct Http {
    client: Client,
    target: Mutex<LiveTarget>,
    method: Method,
    content_type: String,
    reader: Reader,
}

impl Http {
    /// Reads the address and the secrets, and sets up the client.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub(crate) fn new(
        settings: &HttpSettings,
        care: &Care,
        publisher: &PublisherSettings,
    ) -> anyhow::Result<Self> {
        let client = outbound::client(outbound::Options {
            user_agent: concat!("ordem/", env!("CARGO_PKG_VERSION")).to_owned(),
            guard: AddressGuard::new(publisher.allow_addresses.0.clone()),
            connect_timeout: publisher.connect_timeout.get(),
            request_timeout: care.request_timeout.unwrap_or(publisher.request_timeout).get(),
        })?;
        Ok(Self {
            client,
            target: Mutex::new(LiveTarget::resolve(settings)?),
            method: match settings.method {
                HttpMethod::Post => Method::POST,
                HttpMethod::Put => Method::PUT,
                HttpMethod::Patch => Method::PATCH,
            },
            content_type: settings.content_type.clone().unwrap_or_else(|| "application/json".to_owned()),
            reader: Reader::new(settings, publisher),
        })
    }

    fn target(&self) -> Arc<Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).current()
    }

    /// The request, or why it cannot be made of this effect.
    fn request(&self, target: &Target, delivery: Delivery<'_>) -> Result<RequestBuilder, String> {
        let message = message::Message::of(delivery.effect);
        let (url, body) = (target.url.clone(), message.to_json());
        let request = self
            .client
            .request(self.method.clone(), url)
            .timeout(delivery.time)
            .headers(target.headers.clone())
            .header(header::CONTENT_TYPE, &self.content_type);
        Ok(message::sign(request, delivery.effect.effect_id, delivery.now, body, &target.keys))
    }

    async fn call(&self, delivery: Delivery<'_>) -> Answer {
        let request = match self.request(&self.target(), delivery) {
            Ok(request) => request,
            Err(reason) => return Answer::permanent(&reason),
        };
        match self.client.send(request).await {
            Ok(response) => self.reader.read(response, delivery).await,
            Err(error @ CallError::Invalid(_)) => Answer::permanent(&error.to_string()),
            Err(error) => Answer::transient(&error.to_string()),
        }
    }
}

impl Transport for Http {
    fn carry<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(self.call(delivery))
    }
}

/// Whether calls are signed.
fn signs(settings: &HttpSettings) -> bool {
    settings.signing == Signing::StandardWebhooks
}
