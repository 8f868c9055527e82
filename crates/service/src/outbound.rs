//! Calls to the outside: the one HTTP client of publisher and reconciler.
//!
//! It asks the [`AddressGuard`] about every address before it is dialled: names after their resolution, addresses
//! in the URL itself besides. It follows no redirect and uses no proxy, for both would dial what nobody judged.
//! What an answer means is the caller's business.

use std::{
    error::Error as StdError,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use reqwest::{
    Method, RequestBuilder, Response,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{HeaderMap, RETRY_AFTER},
    redirect,
};
use url::{Host, Url};

use crate::{AddressGuard, Blocked};

/// How a client calls.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who we say we are, such as `ordem-publisher/0.1.0`.
    pub user_agent: String,
    /// Which addresses may be called.
    pub guard: AddressGuard,
    /// Longest time to resolve a name and connect.
    pub connect_timeout: Duration,
    /// Longest time of a whole call, the body included; a single request may set another.
    pub request_timeout: Duration,
}

/// A call that got no answer, by what the caller can do about it. The texts never hold the URL or a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The address is internal and not allowed: trying again brings the same until a name points elsewhere.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// The request cannot be built: trying again brings the same.
    #[error("the request cannot be made: {0}")]
    Invalid(String),
    /// No answer in time: the other side may have acted all the same.
    #[error("no answer in time")]
    TimedOut,
    /// No connection: the other side saw nothing.
    #[error("cannot connect: {0}")]
    Unreachable(String),
    /// The connection broke: the other side may have acted all the same.
    #[error("the connection broke: {0}")]
    Broken(String),
}

/// The start of an answer's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// At most as many bytes as asked for.
    pub bytes: Vec<u8>,
    /// Whether that was all.
    pub whole: bool,
}

/// A client that calls only what its guard lets through. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    client: reqwest::Client,
    guard: Arc<AddressGuard>,
}

/// Builds a client.
///
/// # Errors
/// When TLS cannot be set up on this machine (no root certificates).
pub fn client(options: Options) -> Result<Client, CallError> {
    let guard = Arc::new(options.guard);
    let client = reqwest::Client::builder()
        .user_agent(options.user_agent)
        .connect_timeout(options.connect_timeout)
        .timeout(options.request_timeout)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .dns_resolver(GuardedResolver { guard: guard.clone() })
        .build()
        .map_err(call_error)?;
    Ok(Client { client, guard })
}

impl Client {
    /// Begins a request; hand it to [`Client::send`], which judges its address.
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.client.request(method, url)
    }

    /// Sends a request and waits for the head of its answer, whatever the status.
    ///
    /// # Errors
    /// When there is no answer. Dropped before its end, the other side may have acted all the same.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, CallError> {
        let request = request.build().map_err(call_error)?;
        judge_literal(&self.guard, request.url())?;
        self.client.execute(request).await.map_err(call_error)
    }
}

/// Reads an answer's body up to `bytes_max` and leaves the rest.
///
/// # Errors
/// When it breaks off or takes longer than the request may.
pub async fn body(mut response: Response, bytes_max: usize) -> Result<Body, CallError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(call_error)? {
        let room = bytes_max - bytes.len();
        if chunk.len() > room {
            bytes.extend_from_slice(&chunk[..room]);
            return Ok(Body { bytes, whole: false });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Body { bytes, whole: true })
}

/// How long an answer asks to be left alone: its `Retry-After`, in seconds (also with decimals) or as an HTTP date. Uncapped: the
/// caller knows how long it can wait.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    // A whole number by RFC 9110; Shopify writes decimals.
    if let Ok(seconds) = text.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    // A date that has passed asks for no wait.
    Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// An address that stands in the URL is never resolved, so the resolver does not see it.
fn judge_literal(guard: &AddressGuard, url: &Url) -> Result<(), Blocked> {
    match url.host() {
        Some(Host::Ipv4(address)) => guard.judge(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => guard.judge(IpAddr::V6(address)),
        Some(Host::Domain(_)) | None => Ok(()),
    }
}

fn call_error(error: reqwest::Error) -> CallError {
    let error = error.without_url();
    if let Some(blocked) = causes(&error).find_map(|cause| cause.downcast_ref::<Blocked>()) {
        return CallError::Blocked(blocked.clone());
    }
    let text = causes(&error).last().map(ToString::to_string).unwrap_or_else(|| error.to_string());
    if error.is_builder() {
        CallError::Invalid(text)
    } else if error.is_connect() {
        CallError::Unreachable(text)
    } else if error.is_timeout() {
        CallError::TimedOut
    } else {
        CallError::Broken(text)
    }
}

fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// Resolves names and hands on only the addresses that the guard lets through.
struct GuardedResolver {
    guard: Arc<AddressGuard>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.guard.clone();
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(guard.vetted(found)?.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
