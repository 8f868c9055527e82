//! Kind `http`: one signed request for each effect.

mod read;
mod success;
mod target;

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use reqwest::{Method, RequestBuilder, header};
use serde::de::IgnoredAny;
use service::{
    AddressGuard, Template,
    outbound::{self, CallError, Client},
    settings::{Care, HttpMethod, HttpSettings, JSON, PublisherSettings, Signing},
};

use url::Url;

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
    path: Option<Template>,
    body: Option<Template>,
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
            content_type: settings.content_type.clone().unwrap_or_else(|| JSON.to_owned()),
            path: settings.path_template().map_err(anyhow::Error::msg)?,
            body: settings.body_template().map_err(anyhow::Error::msg)?,
            reader: Reader::new(settings, publisher),
        })
    }

    fn target(&self) -> Arc<Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).current()
    }

    /// The request, or why it cannot be made of this effect.
    fn request(&self, target: &Target, delivery: Delivery<'_>) -> Result<RequestBuilder, String> {
        let message = message::Message::of(delivery.effect);
        let body = match &self.body {
            Some(template) => {
                template.render(&message).map_err(|error| format!("body: {error}"))?.into_bytes()
            }
            None => message.to_json(),
        };
        if self.body.is_some() && self.content_type == JSON {
            serde_json::from_slice::<IgnoredAny>(&body)
                .map_err(|error| format!("body: the template made no JSON: {error}"))?;
        }
        let mut url = target.url.clone();
        if let Some(template) = &self.path {
            add_path(&mut url, &template.render(&message).map_err(|error| format!("path: {error}"))?);
        }
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

/// Adds a path, and what may follow it after `?`, to those of the address.
fn add_path(url: &mut Url, added: &str) {
    let (path, query) = added.split_once('?').map_or((added, None), |(path, query)| (path, Some(query)));
    url.set_path(&format!("{}/{}", url.path().trim_end_matches('/'), path.trim_start_matches('/')));
    if let Some(query) = query {
        let before =
            url.as_str().split_once('?').map(|(_, before)| before).filter(|before| !before.is_empty());
        let whole = before.map_or_else(|| query.to_owned(), |before| format!("{before}&{query}"));
        url.set_query(Some(&whole));
    }
}

/// Whether calls are signed.
fn signs(settings: &HttpSettings) -> bool {
    settings.signing == Signing::StandardWebhooks
}
