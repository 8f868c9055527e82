//! How the provider's own list of resources is asked for: pure descriptions, no calls.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Deserialize;

use crate::place::Place;
use crate::reader::Reader;
use crate::shape::Shape;

/// The provider's API, as far as reconciling needs it.
#[derive(Clone, Debug)]
pub struct Api {
    /// How a call says who we are; the secret itself is configured with the source.
    pub auth: Auth,
    /// Headers sent with each call.
    pub headers: Vec<(String, String)>,
    /// Reading what changed since an instant, where the provider has such a list.
    pub list: Option<List>,
    /// Reading one resource.
    pub get: Option<Get>,
    /// The event type under which items enter the inbox, such as `api.order`.
    pub event_type: String,
    pub(crate) item: Reader,
    pub(crate) page: PageShape,
}

/// How a call says who we are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "AuthSpec")]
pub enum Auth {
    /// `Authorization: Bearer TOKEN`.
    Bearer,
    /// HTTP Basic; the token is `user:password`.
    Basic,
    /// HTTP Basic with the token as the user and no password.
    BasicUser,
    /// A header of the provider's own.
    Header {
        /// Its name.
        header: String,
        /// What stands before the token.
        prefix: String,
    },
}

/// `auth = "bearer"`, or `auth = { header = "x-api-key" }`.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"bearer\", \"basic\", \"basic-user\" or { header = \"name\", prefix = \"\" }"
)]
enum AuthSpec {
    Named(NamedAuth),
    Header(HeaderAuth),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NamedAuth {
    Bearer,
    Basic,
    BasicUser,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderAuth {
    header: String,
    #[serde(default)]
    prefix: String,
}

impl From<AuthSpec> for Auth {
    fn from(spec: AuthSpec) -> Self {
        match spec {
            AuthSpec::Named(NamedAuth::Bearer) => Self::Bearer,
            AuthSpec::Named(NamedAuth::Basic) => Self::Basic,
            AuthSpec::Named(NamedAuth::BasicUser) => Self::BasicUser,
            AuthSpec::Header(HeaderAuth { header, prefix }) => Self::Header { header, prefix },
        }
    }
}

/// A list, read page by page.
#[derive(Clone, Debug)]
pub struct List {
    /// Path below the API's base URL.
    pub path: String,
    /// The parameter that takes the instant to read from.
    pub since_param: String,
    /// How that instant is spelt.
    pub since_format: SinceFormat,
    /// The parameter that takes the page size, if there is one.
    pub limit_param: Option<String>,
    /// The page size.
    pub limit: u32,
    /// How the next page is found.
    pub paging: Paging,
    /// Whether the provider promises that the list ascends by the instant it was changed at. Only then may a cursor
    /// move before the list is read to its end.
    pub sorted: bool,
    /// Parameters that are always sent.
    pub query: Vec<(String, String)>,
}

/// How an instant is spelt in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SinceFormat {
    /// `2026-01-02T03:04:05Z`, with a fraction where there is one.
    #[default]
    Rfc3339,
    /// Whole seconds since 1970.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMilliseconds,
}

impl SinceFormat {
    /// Spells an instant; what the format cannot hold is cut downwards, so that nothing is skipped.
    pub fn spell(self, instant: Timestamp) -> String {
        match self {
            Self::Rfc3339 => instant.to_string(),
            Self::EpochSeconds => instant.as_nanosecond().div_euclid(1_000_000_000).to_string(),
            Self::EpochMilliseconds => instant.as_nanosecond().div_euclid(1_000_000).to_string(),
        }
    }
}

/// How the next page is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paging {
    /// The answer holds a token that the next call repeats.
    Token {
        /// The parameter that takes the token.
        param: String,
    },
    /// Pages have numbers, and a short page is the last.
    Page {
        /// The parameter that takes the number.
        param: String,
        /// The number of the first.
        first: u64,
    },
    /// Pages start so many items from the first, and a short page is the last.
    Offset {
        /// The parameter that takes the number of items to skip.
        param: String,
    },
}

/// Reading one resource by its id.
#[derive(Clone, Debug)]
pub struct Get {
    /// Path below the API's base URL, with `{id}` where the id goes.
    pub path: String,
    pub(crate) item: PageShape,
}

/// Where items and the next token stand in an answer.
#[derive(Clone, Debug)]
pub(crate) struct PageShape {
    pub(crate) shape: Shape,
    /// None when the answer itself is the list (or the item).
    pub(crate) items: Option<Place>,
    pub(crate) next: Option<Place>,
}

impl List {
    /// The query of one call: from `since`, and at `page` when the answer before named one.
    pub fn query(&self, since: Timestamp, page: Option<&str>) -> Vec<(&str, String)> {
        let mut query: Vec<(&str, String)> =
            self.query.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        query.push((&self.since_param, self.since_format.spell(since)));
        if let Some(param) = &self.limit_param {
            query.push((param, self.limit.to_string()));
        }
        match (&self.paging, page) {
            (Paging::Token { param } | Paging::Page { param, .. } | Paging::Offset { param }, Some(page)) => {
                query.push((param, page.to_owned()));
            }
            (Paging::Page { param, first }, None) => query.push((param, first.to_string())),
            (Paging::Token { .. } | Paging::Offset { .. }, None) => {}
        }
        query
    }

    /// What asks for the page after `page`, which had so many items and named `told`; nothing after the last.
    pub fn next(&self, page: Option<&str>, items: usize, told: Option<String>) -> Option<String> {
        let items = u64::try_from(items).ok()?;
        let number = |usual| page.map_or(Some(usual), |page| page.parse::<u64>().ok());
        match &self.paging {
            Paging::Token { .. } => told,
            Paging::Page { .. } | Paging::Offset { .. } if items < u64::from(self.limit) => None,
            Paging::Page { first, .. } => number(*first)?.checked_add(1).map(|next| next.to_string()),
            Paging::Offset { .. } => number(0)?.checked_add(items).map(|next| next.to_string()),
        }
    }
}

impl Get {
    /// The path of one resource, its id percent-encoded so that it stays one segment.
    pub fn path_of(&self, id: &str) -> String {
        self.path.replace("{id}", &encoded(id))
    }
}

/// Percent-encodes all that could end a segment of a path.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            // A dot alone would be a step in the path; encoded servers still read it as the letter.
            other => {
                // Writing to a String cannot fail.
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}
