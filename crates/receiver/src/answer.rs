//! What the receiver answers: each case once, with its status.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use profile::Answers;

/// Every answer there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Committed, also when it was known before.
    Stored,
    /// The signature does not hold. Nothing is said about why.
    Refused,
    /// No such source, or it is off.
    UnknownSource,
    /// Only POST delivers.
    MethodNotAllowed,
    /// The provider's reachability check.
    Alive,
    /// The body did not arrive in time.
    SlowBody,
    /// The body broke off.
    BrokenBody,
    /// The body is larger than allowed.
    TooLarge,
    /// The profile takes other content types.
    UnsupportedType,
    /// It cannot be stored right now.
    Unavailable,
    /// A ping or a challenge: answered, and not stored.
    Greeted {
        /// As the profile says.
        status: u16,
        /// As the profile says.
        body: String,
    },
}

impl Answer {
    /// The status, with the profile's own for success and refusal.
    pub(crate) fn status(&self, profile: Option<Answers>) -> StatusCode {
        let own = |status: Option<u16>, usual| {
            status.and_then(|own| StatusCode::from_u16(own).ok()).unwrap_or(usual)
        };
        match self {
            Self::Stored => own(profile.map(|answers| answers.success), StatusCode::OK),
            Self::Refused => own(profile.map(|answers| answers.refusal), StatusCode::UNAUTHORIZED),
            Self::UnknownSource => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Alive => StatusCode::OK,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::BrokenBody => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Greeted { status, .. } => own(Some(*status), StatusCode::OK),
        }
    }

    /// The whole response; its body is empty unless the profile has one: nearly all providers read the status only.
    pub(crate) fn response(
        self,
        profile: Option<Answers>,
        success_body: &str,
        retry_after_seconds: u64,
    ) -> HttpResponse {
        let mut response = HttpResponse::build(self.status(profile));
        match self {
            Self::Unavailable => {
                response.insert_header((header::RETRY_AFTER, retry_after_seconds));
            }
            Self::MethodNotAllowed => {
                response.insert_header((header::ALLOW, "POST, HEAD"));
            }
            // What is left of the body will not be read, so the connection cannot go on.
            Self::TooLarge | Self::SlowBody | Self::BrokenBody => {
                response.force_close();
            }
            Self::Stored if !success_body.is_empty() => return response.body(success_body.to_owned()),
            Self::Greeted { body, .. } if !body.is_empty() => {
                // What is echoed must not be taken for a page.
                response.insert_header((header::CONTENT_TYPE, "text/plain; charset=utf-8"));
                response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
                return response.body(body);
            }
            Self::Stored
            | Self::Refused
            | Self::UnknownSource
            | Self::Alive
            | Self::UnsupportedType
            | Self::Greeted { .. } => {}
        }
        response.finish()
    }
}
