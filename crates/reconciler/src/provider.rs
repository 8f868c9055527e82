//! One call to a provider's API, and what its answer means for the next one.

use std::{sync::Arc, time::Duration};

use domain::Clock;
use http::StatusCode;
use jiff::Timestamp;
use metrics::counter;
use profile::{Api, Auth, List};
use reqwest::{Method, RequestBuilder, Response};
use secrecy::ExposeSecret;
use service::{
    LiveSecrets, metrics as names,
    outbound::{self, CallError},
};
use url::Url;

use crate::Failure;

/// The API of one source.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) source: String,
    pub(crate) client: outbound::Client,
    pub(crate) base: Url,
    pub(crate) token: LiveSecrets,
    /// Where the token comes from, for messages.
    pub(crate) token_name: String,
    pub(crate) response_bytes_max: usize,
}

/// What a look-up brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// The answer's bytes.
    Body(Vec<u8>),
    /// There is no such thing, by this status.
    Missing(u16),
}

/// A call that brought no page.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The provider wants to be left alone for this long.
    Throttled(Duration),
    /// May go away by itself.
    Transient(Failure),
    /// Comes again.
    Lasting(Failure),
}

impl Provider {
    /// Asks once for one page: from `since`, and at `page` where the answer before named one.
    pub(crate) async fn page(
        &self,
        api: &Api,
        list: &List,
        since: Timestamp,
        page: Option<&str>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Vec<u8>, Trouble> {
        let answer = self.ask(self.request(api, list, since, page), clock).await;
        let result = answer.as_ref().map_or_else(Trouble::as_str, |_| "ok");
        counter!(names::RECONCILER_REQUESTS, "source" => self.source.clone(), "result" => result)
            .increment(1);
        answer
    }

    /// Asks once for one resource, at a path with or without a query.
    pub(crate) async fn look_up(
        &self,
        api: &Api,
        path: &str,
        missing: &[u16],
        clock: &Arc<dyn Clock>,
    ) -> Result<Looked, Trouble> {
        let answer = self.ask_for(self.authorized(api, self.address(path)), missing, clock).await;
        let result = answer.as_ref().map_or_else(Trouble::as_str, |_| "ok");
        counter!(names::RECONCILER_LOOKUPS, "source" => self.source.clone(), "result" => result).increment(1);
        answer
    }

    async fn ask_for(
        &self,
        request: RequestBuilder,
        missing: &[u16],
        clock: &Arc<dyn Clock>,
    ) -> Result<Looked, Trouble> {
        let response = self.client.send(request).await?;
        let status = response.status().as_u16();
        match missing.contains(&status) {
            true => Ok(Looked::Missing(status)),
            false => self.whole(response, clock).await.map(Looked::Body),
        }
    }

    /// The address of a path below the API's base.
    fn address(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    fn request(&self, api: &Api, list: &List, since: Timestamp, page: Option<&str>) -> RequestBuilder {
        let mut url = self.address(&list.path);
        url.query_pairs_mut().extend_pairs(list.query(since, page));
        self.authorized(api, url)
    }

    fn authorized(&self, api: &Api, url: Url) -> RequestBuilder {
        let request = self.client.request(Method::GET, url);
        let request = match api.headers.iter().any(|(name, _)| name == "accept") {
            true => request,
            false => request.header(http::header::ACCEPT, "application/json"),
        };
        let request = api.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let tokens = self.token.current();
        let Some(token) = tokens.first() else { return request };
        authorized(request, &api.auth, token.expose_secret().trim())
    }

    async fn ask(&self, request: RequestBuilder, clock: &Arc<dyn Clock>) -> Result<Vec<u8>, Trouble> {
        let response = self.client.send(request).await?;
        self.whole(response, clock).await
    }

    async fn whole(&self, response: Response, clock: &Arc<dyn Clock>) -> Result<Vec<u8>, Trouble> {
        if !response.status().is_success() {
            return Err(self.refusal(&response, clock.now()));
        }
        let body = outbound::body(response, self.response_bytes_max).await?;
        match body.whole {
            true => Ok(body.bytes),
            false => Err(Trouble::Lasting(Failure::Oversized(self.response_bytes_max))),
        }
    }

    fn refusal(&self, response: &Response, now: Timestamp) -> Trouble {
        let status = response.status();
        let number = status.as_u16();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Trouble::Lasting(Failure::TokenRefused { status: number, token: self.token_name.clone() })
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                outbound::retry_after(response.headers(), now)
                    .map_or(Trouble::Transient(Failure::Status(number)), Trouble::Throttled)
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => {
                Trouble::Transient(Failure::Status(number))
            }
            _ if status.is_server_error() => Trouble::Transient(Failure::Status(number)),
            _ if status.is_redirection() => Trouble::Lasting(Failure::Redirect(number)),
            _ => Trouble::Lasting(Failure::Status(number)),
        }
    }
}

/// Adds the token in the way that the provider wants it.
fn authorized(request: RequestBuilder, auth: &Auth, token: &str) -> RequestBuilder {
    match auth {
        Auth::Bearer => request.bearer_auth(token),
        Auth::Basic => {
            let (user, password) = token.split_once(':').unwrap_or((token, ""));
            request.basic_auth(user, Some(password))
        }
        Auth::BasicUser => request.basic_auth(token, Some("")),
        Auth::Header { header, prefix } => {
            let mut value = http::HeaderValue::from_str(&format!("{prefix}{token}"));
            if let Ok(value) = &mut value {
                value.set_sensitive(true);
            }
            match value {
                Ok(value) => request.header(header, value),
                // No header can hold it: the provider will refuse the call, which names the token.
                Err(_) => request,
            }
        }
    }
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Blocked(_) | CallError::Invalid(_) => Self::Lasting(error.into()),
            CallError::TimedOut | CallError::Unreachable(_) | CallError::Broken(_) => {
                Self::Transient(error.into())
            }
        }
    }
}

impl Trouble {
    /// The result in the metric: a bounded set of words.
    fn as_str(&self) -> &'static str {
        match self {
            Self::Throttled(_) => "throttled",
            Self::Transient(failure) | Self::Lasting(failure) => match failure {
                Failure::TokenRefused { .. } => "token_refused",
                Failure::Call(CallError::Blocked(_)) => "blocked",
                Failure::Call(CallError::TimedOut) => "timed_out",
                Failure::Call(_) => "unreachable",
                Failure::Oversized(_) => "oversized",
                Failure::Throttled(_) => "throttled",
                Failure::Status(_)
                | Failure::Redirect(_)
                | Failure::NoPage(_)
                | Failure::PageRepeats
                | Failure::Database(_) => "refused",
            },
        }
    }
}
