//! One call to a provider's API.

use std::{sync::Arc, time::Duration};

use domain::Clock;
use http::{HeaderMap, StatusCode};
use metrics::counter;
use profile::{Address, Api, Call};
use reqwest::{Method, RequestBuilder, Response};
use service::{
    LiveSecrets, metrics as names,
    outbound::{self},
};
use url::Url;

use crate::{
    Failure,
    login::Fetched,
    pace::Pace,
    trouble::{self, Trouble},
};

/// The API of one source.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) source: String,
    pub(crate) client: outbound::Client,
    pub(crate) base: Url,
    pub(crate) token: LiveSecrets,
    /// Where the token comes from, for messages.
    pub(crate) token_name: String,
    /// The second secret, where the provider wants two.
    pub(crate) user: Option<LiveSecrets>,
    /// What the profile leaves to the source.
    pub(crate) constants: Vec<(String, String)>,
    pub(crate) response_bytes_max: usize,
    /// Longest wait that the provider's headers are obeyed for.
    pub(crate) wait_max: Duration,
    pub(crate) fetched: Fetched,
    pub(crate) pace: Pace,
}

/// An answer that is a success.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    /// Nothing where the status says that there is nothing (204).
    pub(crate) body: Option<Vec<u8>>,
}

/// What a look-up brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// The answer's bytes.
    Body(Vec<u8>),
    /// There is no such thing, by this status.
    Missing(u16),
}

impl Provider {
    /// Asks once for one page.
    pub(crate) async fn page(
        &self,
        api: &Api,
        call: &Call,
        clock: &Arc<dyn Clock>,
    ) -> Result<Answer, Trouble> {
        let answer = match self.named_or_below(&call.to) {
            Ok(mut url) => {
                if !call.query.is_empty() {
                    url.query_pairs_mut().extend_pairs(&call.query);
                }
                let method = if call.body.is_some() { Method::POST } else { Method::GET };
                self.ask(api, method, &url, call.body.as_deref(), clock).await
            }
            Err(failure) => Err(Trouble::Lasting(failure)),
        };
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
        let looked = self.look_up_once(api, path, missing, clock).await;
        let result = looked.as_ref().map_or_else(Trouble::as_str, |_| "ok");
        counter!(names::RECONCILER_LOOKUPS, "source" => self.source.clone(), "result" => result).increment(1);
        looked
    }

    async fn look_up_once(
        &self,
        api: &Api,
        path: &str,
        missing: &[u16],
        clock: &Arc<dyn Clock>,
    ) -> Result<Looked, Trouble> {
        let response = self.response(api, Method::GET, &self.address(path), None, clock).await?;
        let status = response.status().as_u16();
        match missing.contains(&status) {
            true => Ok(Looked::Missing(status)),
            false => {
                let answer = self.whole(api, response, clock).await?;
                Ok(Looked::Body(answer.body.unwrap_or_default()))
            }
        }
    }

    /// Asks once, whatever for.
    pub(crate) async fn ask(
        &self,
        api: &Api,
        method: Method,
        url: &Url,
        body: Option<&str>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Answer, Trouble> {
        let response = self.response(api, method, url, body, clock).await?;
        self.whole(api, response, clock).await
    }

    /// The address of a path below the API's base.
    pub(crate) fn address(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// The address of a call. What the provider names must stay with the provider: the token goes there.
    fn named_or_below(&self, address: &Address) -> Result<Url, Failure> {
        match address {
            Address::Path(path) => Ok(self.address(path)),
            Address::Named(named) => {
                let url = self.base.join(named.trim()).ok();
                let ours = |url: &Url| url.origin() == self.base.origin() && url.origin().is_tuple();
                let mut url = url.filter(ours).ok_or(Failure::Elsewhere)?;
                // Who we are is not the provider's to say. Neither fails for http and https.
                let _ = url.set_username(self.base.username());
                let _ = url.set_password(self.base.password());
                Ok(url)
            }
        }
    }

    /// One request, and a second one where a fetched token turns out to be no good any more.
    async fn response(
        &self,
        api: &Api,
        method: Method,
        url: &Url,
        body: Option<&str>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Response, Trouble> {
        let mut again = true;
        loop {
            tokio::time::sleep(self.pace.wait()).await;
            let request = self.request(api, method.clone(), url, body);
            let request = self.authorized(request, &api.auth).await?;
            let response = self.client.send(request).await?;
            self.pace.learn(&api.rate, response.headers(), clock.now(), self.wait_max);
            if response.status() == StatusCode::UNAUTHORIZED && again && self.forget_token(&api.auth).await {
                again = false;
                continue;
            }
            return Ok(response);
        }
    }

    fn request(&self, api: &Api, method: Method, url: &Url, body: Option<&str>) -> RequestBuilder {
        let mut request = self.client.request(method, url.clone());
        if !api.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept")) {
            request = request.header(http::header::ACCEPT, "application/json");
        }
        for (name, value) in api.headers_with(&self.constants) {
            request = request.header(name, value);
        }
        match body {
            Some(body) => {
                request.header(http::header::CONTENT_TYPE, "application/json").body(body.to_owned())
            }
            None => request,
        }
    }

    async fn whole(&self, api: &Api, response: Response, clock: &Arc<dyn Clock>) -> Result<Answer, Trouble> {
        let status = response.status();
        if !status.is_success() {
            let (headers, now) = (response.headers(), clock.now());
            return Err(trouble::refusal(status, headers, &api.rate, &self.token_name, now));
        }
        let headers = response.headers().clone();
        if status == StatusCode::NO_CONTENT {
            return Ok(Answer { headers, body: None });
        }
        let body = outbound::body(response, self.response_bytes_max).await?;
        match body.whole {
            true => Ok(Answer { headers, body: Some(body.bytes) }),
            false => Err(Trouble::Lasting(Failure::Oversized(self.response_bytes_max))),
        }
    }
}
