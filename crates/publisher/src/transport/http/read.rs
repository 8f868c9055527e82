//! Reads a destination's answer.

use std::time::Duration;

use reqwest::Response;
use service::{
    outbound,
    settings::{Conflict, HttpSettings, PublisherSettings, StatusRange, SuccessRule},
};

use super::success;
use crate::{
    answer::{Answer, Meaning},
    excerpt::excerpt,
    transport::Delivery,
    verdict,
};

/// The meaning of a call stands with the head of its answer; its body is waited for no longer than this.
const BODY_WAIT_MAX: Duration = Duration::from_secs(2);

/// Most of an answer that becomes part of the reason.
const SAID_BYTES_MAX: usize = 200;

/// What the destination's settings say about its answers.
pub(super) struct Reader {
    success_status: Vec<StatusRange>,
    success: Option<SuccessRule>,
    conflict: Conflict,
    bytes_max: usize,
    excerpt_bytes: usize,
}

impl Reader {
    pub(super) fn new(settings: &HttpSettings, publisher: &PublisherSettings) -> Self {
        Self {
            success_status: settings.success_status.clone(),
            success: settings.success.clone(),
            conflict: settings.conflict,
            bytes_max: publisher.response_bytes_max,
            excerpt_bytes: publisher.response_excerpt_bytes,
        }
    }

    pub(super) async fn read(&self, response: Response, delivery: Delivery<'_>) -> Answer {
        let status = response.status().as_u16();
        let asked = outbound::retry_after(response.headers(), delivery.now);
        // Read so that the connection can be used again; one that says too much, or says it too slowly, is dropped.
        let body = tokio::time::timeout(BODY_WAIT_MAX, outbound::body(response, self.bytes_max)).await;
        let bytes = body.ok().and_then(Result::ok).map(|body| body.bytes).unwrap_or_default();
        let (meaning, error) = self.judge(status, delivery.effect.attempt > 1, &bytes);
        let excerpt = excerpt(&bytes, self.excerpt_bytes);
        Answer { status: Some(status), meaning, error, excerpt, asked, ..Answer::delivered() }
    }

    /// The meaning, and why it is no success.
    fn judge(&self, status: u16, is_repeated: bool, body: &[u8]) -> (Meaning, Option<String>) {
        let by_status = match status {
            409 if is_repeated && self.conflict == Conflict::Delivered => return (Meaning::Delivered, None),
            _ if self.success_status.is_empty() => Meaning::of_status(status),
            _ if self.success_status.iter().any(|range| range.contains(status)) => Meaning::Delivered,
            // A success of HTTP that is none here: nobody said that trying again is useless.
            _ if Meaning::of_status(status) == Meaning::Delivered => {
                let error = format!("answer {status} is not in the destination's `success_status`");
                return (Meaning::Transient, Some(error));
            }
            _ => Meaning::of_status(status),
        };
        match &self.success {
            _ if by_status != Meaning::Delivered => (by_status, Some(reason(status, body))),
            Some(rule) if !success::is_told(rule, body) => {
                let error =
                    format!("answer {status}, but {} is not as the destination's `success` says", rule.field);
                (Meaning::Transient, Some(error))
            }
            _ => (Meaning::Delivered, None),
        }
    }
}

/// The status, and what the destination says about it: two causes with one status are two groups of failures.
fn reason(status: u16, body: &[u8]) -> String {
    let text = verdict::text_of_status(status);
    let Some(said) = excerpt(body, SAID_BYTES_MAX) else { return text };
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if said.is_empty() { text } else { format!("{text}: {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_has_one_line_of_what_the_destination_says() {
        assert_eq!(
            reason(422, b"{\n  \"error\": \"no such sku\"\n}"),
            "answer 422: { \"error\": \"no such sku\" }"
        );
        assert_eq!(reason(500, b" \r\n"), "answer 500");
        assert_eq!(reason(500, &[b'x'; 1000]).len(), "answer 500: ".len() + SAID_BYTES_MAX);
    }
}
