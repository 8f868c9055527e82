//! The call itself. It goes where the operator says, so no address is refused.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use service::{
    AddressGuard,
    outbound::{self, CallError, Client, Options},
};
use tokio::time::Instant;

use super::{answer::Posted, request::Request};
use crate::{command::send::answer::Ended, failure::BadInput};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// More than any answer of a receiver has.
const ANSWER_BYTES_MAX: usize = 4096;

/// Posts one request after the other.
#[derive(Debug)]
pub(crate) struct Poster {
    client: Client,
}

impl Poster {
    /// Dials nothing yet.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let everywhere = ["0.0.0.0/0", "::/0"].iter().filter_map(|range| range.parse().ok()).collect();
        let client = outbound::client(Options {
            user_agent: concat!("ordem/", env!("CARGO_PKG_VERSION")).to_owned(),
            guard: AddressGuard::new(everywhere),
            connect_timeout: CONNECT_TIMEOUT,
            request_timeout: REQUEST_TIMEOUT,
        })?;
        Ok(Self { client })
    }

    /// Posts and waits for the answer.
    pub(crate) async fn post(&self, request: Request) -> anyhow::Result<Posted> {
        let Request { url, headers, body } = request;
        let shown = url.clone();
        let began = Instant::now();
        let built = self.client.request(Method::POST, url).headers(header_map(&headers)?).body(body);
        let response = self.client.send(built).await.map_err(|error| unanswered(error, &shown))?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(reqwest::header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
        let body = outbound::body(response, ANSWER_BYTES_MAX).await.with_context(|| shown.to_string())?;
        let answer = String::from_utf8_lossy(&body.bytes).into_owned();
        Ok(Posted { ended: Ended { status, answer, retry_after }, took: began.elapsed() })
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, BadInput> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        // What frames the message is the client's: of a captured request it may be wrong by now.
        if ["content-length", "host", "transfer-encoding", "connection"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
        {
            continue;
        }
        let wrong = || BadInput::new(format!("header \"{name}\": its name or value cannot be sent"));
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong())?;
        map.append(name.parse::<HeaderName>().map_err(|_| wrong())?, value);
    }
    Ok(map)
}

fn unanswered(error: CallError, url: &reqwest::Url) -> anyhow::Error {
    let way_out = match &error {
        CallError::Unreachable(_) => "start the receiver, or name its address with --url",
        CallError::TimedOut | CallError::Broken(_) => {
            "it may be stored all the same: send it again, the same event is stored once"
        }
        CallError::Invalid(_) | CallError::Blocked(_) => "see --url and --header",
    };
    anyhow!("{url}: {error}: {way_out}")
}
