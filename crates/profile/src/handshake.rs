//! Requests that are no event: pings and challenges.

use crate::place::{Place, query, query_value};
use crate::profile::Profile;
use crate::reader::Mark;
use crate::shape::Shape;

/// Longest body that is looked at, inflated or not: a greeting is short, and each event passes here.
const BYTES_MAX: usize = 64 * 1024;

/// A kind of request that is answered and not stored.
#[derive(Clone, Debug)]
pub struct Handshake {
    pub(crate) method: String,
    pub(crate) shape: Shape,
    pub(crate) conditions: Vec<(Place, Mark)>,
    pub(crate) body: Answer,
    /// Whether the signature is checked first.
    pub signed: bool,
    /// The status to answer with.
    pub status: u16,
}

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Text(String),
    Query(String),
}

impl Handshake {
    /// The body to answer with; at most 1 KiB of what is echoed.
    pub fn body(&self, headers: &dyn signature::Headers) -> String {
        match &self.body {
            Answer::Text(text) => text.clone(),
            Answer::Query(name) => {
                let value = query_value(&query(headers), name).unwrap_or_default();
                value.chars().take(1024).collect()
            }
        }
    }
}

impl Profile {
    /// The handshake that this request is, if it is one. `headers` carries the query as the pseudo header `:query`; a
    /// compressed body may become `bytes_max` large.
    pub fn handshake(
        &self,
        method: &str,
        headers: &dyn signature::Headers,
        body: &[u8],
        bytes_max: usize,
    ) -> Option<&Handshake> {
        let same_method = |handshake: &&Handshake| handshake.method.eq_ignore_ascii_case(method);
        let mut candidates = self.handshakes.iter().filter(same_method).peekable();
        candidates.peek()?;
        let short = (body.len() <= BYTES_MAX).then_some(body);
        let text = short.and_then(|body| self.decoding.text(body, headers, bytes_max.min(BYTES_MAX)).ok());
        candidates.find(|handshake| {
            // A condition on the body needs one; one on headers or the query does not.
            let text = text.as_deref().filter(|text| text.trim_start().starts_with('{')).unwrap_or("{}");
            let Ok(leaves) = handshake.shape.extract(text) else { return false };
            handshake
                .conditions
                .iter()
                .all(|(place, mark)| mark.stands(place, &leaves, headers).unwrap_or(false))
        })
    }

    /// Whether any request without a body can be a handshake.
    pub fn greets(&self, method: &str) -> bool {
        self.handshakes.iter().any(|handshake| handshake.method.eq_ignore_ascii_case(method))
    }
}
