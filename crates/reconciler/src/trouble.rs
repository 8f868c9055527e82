//! A call that brought no page, and what that means for the next one.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use profile::Rate;
use service::outbound::{self, CallError};

use crate::Failure;

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

/// What an answer that is no success means; `token` says where the token comes from.
pub(crate) fn refusal(
    status: StatusCode,
    headers: &HeaderMap,
    rate: &Rate,
    token: &str,
    now: Timestamp,
) -> Trouble {
    let number = status.as_u16();
    let header = |name: &str| header(headers, name);
    let asked = || outbound::retry_after(headers, now).or_else(|| rate.refused(&header, now));
    match status {
        // GitHub answers so when no call is left.
        StatusCode::FORBIDDEN
            if headers.contains_key(http::header::RETRY_AFTER) || rate.is_used_up(&header) =>
        {
            asked().map_or(Trouble::Transient(Failure::Status(number)), Trouble::Throttled)
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Trouble::Lasting(Failure::TokenRefused { status: number, token: token.to_owned() })
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            asked().map_or(Trouble::Transient(Failure::Status(number)), Trouble::Throttled)
        }
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => Trouble::Transient(Failure::Status(number)),
        _ if status.is_server_error() => Trouble::Transient(Failure::Status(number)),
        _ if status.is_redirection() => Trouble::Lasting(Failure::Redirect(number)),
        _ => Trouble::Lasting(Failure::Status(number)),
    }
}

/// A header's value as text; nothing where it is absent or no text.
pub(crate) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
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
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Throttled(_) => "throttled",
            Self::Transient(failure) | Self::Lasting(failure) => match failure {
                Failure::TokenRefused { .. } | Failure::NoToken(_) => "token_refused",
                Failure::Call(CallError::Blocked(_)) => "blocked",
                Failure::Call(CallError::TimedOut) => "timed_out",
                Failure::Call(_) => "unreachable",
                Failure::Oversized(_) => "oversized",
                Failure::Throttled(_) => "throttled",
                Failure::Status(_)
                | Failure::Redirect(_)
                | Failure::NoPage(_)
                | Failure::PageRepeats
                | Failure::Elsewhere
                | Failure::Database(_) => "refused",
            },
        }
    }
}
