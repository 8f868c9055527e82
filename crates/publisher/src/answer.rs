//! One call and its answer.

use std::time::Duration;

use db::outbox::ClaimedEffect;
use jiff::Timestamp;
use reqwest::{Method, Response};
use service::{
    outbound::{self, Client},
    settings::Conflict,
};

use crate::{excerpt::excerpt, message, policy::Policy, success, target::Target, verdict};

pub(crate) use crate::verdict::Meaning;

/// The meaning of a call stands with the head of its answer; its body is waited for no longer than this.
const BODY_WAIT_MAX: Duration = Duration::from_secs(2);

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) meaning: Meaning,
    pub(crate) status: Option<u16>,
    /// Why it is no success.
    pub(crate) error: Option<String>,
    pub(crate) excerpt: Option<String>,
    /// What `Retry-After` asks for.
    pub(crate) asked: Option<Duration>,
}

/// Calls the destination, at most for `time`. Dropped before its end, the destination may have acted all the same.
pub(crate) async fn call(
    client: &Client,
    target: &Target,
    effect: &ClaimedEffect,
    policy: &Policy,
    now: Timestamp,
    time: Duration,
) -> Answer {
    let request = client.request(Method::POST, target.url.clone()).timeout(time);
    let request = message::sign(request, effect.effect_id, now, message::body(effect), &target.keys);
    match client.send(request).await {
        Ok(response) => read(response, effect, policy, now).await,
        Err(error) => Answer {
            meaning: Meaning::Transient,
            status: None,
            error: excerpt(error.to_string().as_bytes(), policy.response_excerpt_bytes.max(200)),
            excerpt: None,
            asked: None,
        },
    }
}

async fn read(response: Response, effect: &ClaimedEffect, policy: &Policy, now: Timestamp) -> Answer {
    let status = response.status().as_u16();
    let is_repeated = effect.attempt > 1;
    let by_status = match (status, policy.conflict) {
        (409, Conflict::Delivered) if is_repeated => Meaning::Delivered,
        _ => Meaning::of_status(status),
    };
    let asked = outbound::retry_after(response.headers(), now);
    // Read so that the connection can be used again; one that says too much, or says it too slowly, is dropped.
    let body = tokio::time::timeout(BODY_WAIT_MAX, outbound::body(response, policy.response_bytes_max)).await;
    let bytes = body.ok().and_then(Result::ok).map(|body| body.bytes).unwrap_or_default();
    let told = policy.success.as_ref().filter(|_| (200..300).contains(&status));
    let untold = told.filter(|rule| !success::is_told(rule, &bytes));
    let meaning = if untold.is_some() { Meaning::Transient } else { by_status };
    let error = match untold {
        Some(rule) => {
            Some(format!("answer {status}, but {} is not as the destination's `success` says", rule.field))
        }
        None => (meaning != Meaning::Delivered).then(|| verdict::text_of_status(status)),
    };
    Answer {
        meaning,
        status: Some(status),
        error,
        excerpt: excerpt(&bytes, policy.response_excerpt_bytes),
        asked,
    }
}
