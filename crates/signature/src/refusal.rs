//! Why a request was not accepted.

/// The reason a request does not count as sent by the provider.
///
/// The set is closed, so that it can label a metric; it never carries a value from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// A header that the scheme needs is not there.
    #[error("a header that the signature needs is missing")]
    MissingHeader,
    /// A header is there and cannot be read: empty, wrong letters, wrong length, or repeated with another value.
    #[error("the signature header cannot be read")]
    Malformed,
    /// The signature is made in a way that this profile does not list.
    #[error("the signature names a scheme that is not accepted here")]
    UnknownScheme,
    /// The signed time is too far from now, in either direction.
    #[error("the signed time is outside the tolerance")]
    Expired,
    /// Well formed, and made with none of the live secrets over these bytes.
    #[error("the signature does not match")]
    Mismatch,
    /// No live secret is configured, so nothing can be accepted.
    #[error("no live secret is configured")]
    NoSecret,
}

impl Refusal {
    /// Every reason, in a fixed order (to register a metric before the first refusal).
    pub const ALL: [Refusal; 6] = [
        Refusal::MissingHeader,
        Refusal::Malformed,
        Refusal::UnknownScheme,
        Refusal::Expired,
        Refusal::Mismatch,
        Refusal::NoSecret,
    ];

    /// The stable name used in metrics and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Refusal::MissingHeader => "missing_header",
            Refusal::Malformed => "malformed",
            Refusal::UnknownScheme => "unknown_scheme",
            Refusal::Expired => "expired",
            Refusal::Mismatch => "mismatch",
            Refusal::NoSecret => "no_secret",
        }
    }
}
