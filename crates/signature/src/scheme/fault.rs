//! Why a scheme cannot be used, and why it cannot sign.

/// Why a `[verify]` table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// The text cannot be the name of a header.
    #[error("{0:?} is not a header name")]
    HeaderName(String),
    /// The prefix has blanks, commas or letters outside ASCII.
    #[error("prefix {0:?} has a blank, a comma or a letter outside ASCII")]
    Prefix(String),
    /// The tolerance is not positive.
    #[error("tolerance_seconds must be at least 1")]
    Tolerance,
    /// Nobody can say where the signature stands.
    #[error("exactly one of header, query and json must say where the signature stands")]
    Location,
    /// The path cannot be followed.
    #[error("{0:?} is not a path such as data.items[0].id")]
    Path(String),
    /// The key says something that nothing of this kind or format reads.
    #[error("{0} is only read with {1}")]
    Foreign(&'static str, &'static str),
    /// The format lacks what it needs.
    #[error("format \"pairs\" needs keys, \"list\" needs versions, and no separator may be empty")]
    Format,
    /// The algorithm is unknown, or belongs to another kind.
    #[error("{0:?} is not one of {1}")]
    Algorithm(String, &'static str),
    /// The template cannot be filled.
    #[error("{0:?} {1}")]
    Template(String, String),
    /// The signed time cannot be found.
    #[error("{0}")]
    Time(&'static str),
    /// There is nothing to check.
    #[error("checks is empty, or holds a check that is itself composed or unsigned")]
    Checks,
    /// `because` is blank.
    #[error("because must say why nothing is signed")]
    Because,
    /// Known, and not built.
    #[error("not yet: {0}")]
    NotYet(&'static str),
}

/// Why a message cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The id would not survive as a header value, or could run into the signed time.
    #[error("message id {0:?} is empty, too long, or has a dot, a blank or a letter outside ASCII")]
    Id(String),
    /// Only the provider can sign.
    #[error("the scheme signs with the provider's private key, which only the provider has")]
    PublicKey,
    /// A header, parameter or constant that is signed is missing.
    #[error("a header, query parameter, address or constant that is signed is missing")]
    Incomplete,
    /// All secrets have come to their end, or are of other lists.
    #[error("none of the secrets counts now for what has to be signed")]
    NoKey,
    /// There is nothing to sign with.
    #[error("the source is unsigned")]
    Unsigned,
}
