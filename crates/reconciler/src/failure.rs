//! Why a round ended before it was complete. The cursor stays where the last stored page ends, or, with a
//! list that is not by time, where it was.

use profile::PageError;
use service::outbound::CallError;

/// What ended a round. The texts are meant for the operator and hold no secret and no body.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The provider does not accept the token.
    #[error("the provider refuses the token (status {status}): check {token}")]
    TokenRefused {
        /// 401 or 403.
        status: u16,
        /// Where the token comes from.
        token: String,
    },
    /// The call got no answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The provider goes on asking for waits.
    #[error("the provider wants to be left alone: it made us wait {0} s for one page and asks for more")]
    Throttled(u64),
    /// The answer is no success.
    #[error("the provider answered with status {0}")]
    Status(u16),
    /// The answer leads elsewhere.
    #[error(
        "the provider answered with a redirect (status {0}), which is not followed: check the API's address"
    )]
    Redirect(u16),
    /// The answer is too large.
    #[error("the answer is larger than {0} bytes (reconciler.response_bytes_max)")]
    Oversized(usize),
    /// The answer is not what the profile describes.
    #[error("the answer is no page: {0}")]
    NoPage(#[from] PageError),
    /// The provider leads in a circle.
    #[error("the provider names a page that was read before")]
    PageRepeats,
    /// The next page is said to be with someone else.
    #[error(
        "the provider names an address outside of the API's own for the next page: the token does not go there"
    )]
    Elsewhere,
    /// No token was to be had.
    #[error("no token for the provider's API: {0}")]
    NoToken(String),
    /// The database refuses what it is given.
    #[error(transparent)]
    Database(#[from] db::Error),
}
