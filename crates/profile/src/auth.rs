//! How a call to the provider's API says who we are.

use serde::Deserialize;

/// How a call says who we are; the secrets themselves are configured with the source.
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
    /// Several headers, each with one of the source's secrets.
    Headers(Vec<(String, Credential)>),
    /// A bearer token that is fetched with the client's id and secret (RFC 6749, 4.4); the token is `id:secret`.
    OAuth(OAuth),
}

/// One of the secrets that a source has for the provider's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Credential {
    /// `api_token`.
    ApiToken,
    /// `api_user`.
    ApiUser,
}

/// Where a token is fetched, and how the client says who it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuth {
    /// The address of the token endpoint.
    pub endpoint: TokenEndpoint,
    /// How the client's id and secret are sent.
    pub credentials: ClientCredentials,
    /// What is asked for, if anything.
    pub scope: Option<String>,
}

/// The address of a token endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenEndpoint {
    /// Below the API's base URL.
    Path(String),
    /// Elsewhere.
    Url(String),
}

/// How a client says who it is when it asks for a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientCredentials {
    /// HTTP Basic.
    #[default]
    Basic,
    /// `client_id` and `client_secret` in the form.
    Body,
}

impl Auth {
    /// The names of its headers, for a check.
    pub(crate) fn header_names(&self) -> Vec<&String> {
        match self {
            Self::Header { header, .. } => vec![header],
            Self::Headers(headers) => headers.iter().map(|(name, _)| name).collect(),
            Self::Bearer | Self::Basic | Self::BasicUser | Self::OAuth(_) => Vec::new(),
        }
    }

    /// Whether the source must have an `api_user`.
    pub fn needs_user(&self) -> bool {
        matches!(self, Self::Headers(headers) if headers.iter().any(|(_, of)| *of == Credential::ApiUser))
    }
}

/// `auth = "bearer"`, or `auth = { header = "x-api-key" }`.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "expected \"bearer\", \"basic\", \"basic-user\", { header = \"name\", prefix = \"\" }, \
                 { headers = { name = \"api_user\", name = \"api_token\" } } or \
                 { oauth = \"client-credentials\", path or url, credentials = \"basic\" or \"body\", scope }"
)]
pub(crate) enum AuthSpec {
    Named(NamedAuth),
    Header(HeaderAuth),
    Headers(HeadersAuth),
    OAuth(OAuthAuth),
    OAuthElsewhere(OAuthUrlAuth),
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NamedAuth {
    Bearer,
    Basic,
    BasicUser,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderAuth {
    /// The header that takes the token.
    header: String,
    /// What stands before it.
    #[serde(default)]
    prefix: String,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct HeadersAuth {
    /// Headers, each with one of the source's secrets.
    headers: std::collections::BTreeMap<String, Credential>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum Grant {
    #[serde(rename = "client-credentials")]
    ClientCredentials,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct OAuthAuth {
    /// The grant.
    #[serde(rename = "oauth")]
    _grant: Grant,
    /// The token endpoint, below the API's address.
    path: String,
    /// How the client's id and secret are sent.
    #[serde(default)]
    credentials: ClientCredentials,
    /// What is asked for.
    scope: Option<String>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct OAuthUrlAuth {
    /// The grant.
    #[serde(rename = "oauth")]
    _grant: Grant,
    /// The token endpoint, elsewhere.
    url: String,
    /// How the client's id and secret are sent.
    #[serde(default)]
    credentials: ClientCredentials,
    /// What is asked for.
    scope: Option<String>,
}

impl From<AuthSpec> for Auth {
    fn from(spec: AuthSpec) -> Self {
        match spec {
            AuthSpec::Named(NamedAuth::Bearer) => Self::Bearer,
            AuthSpec::Named(NamedAuth::Basic) => Self::Basic,
            AuthSpec::Named(NamedAuth::BasicUser) => Self::BasicUser,
            AuthSpec::Header(HeaderAuth { header, prefix }) => Self::Header { header, prefix },
            AuthSpec::Headers(HeadersAuth { headers }) => Self::Headers(headers.into_iter().collect()),
            AuthSpec::OAuth(OAuthAuth { path, credentials, scope, .. }) => {
                Self::OAuth(OAuth { endpoint: TokenEndpoint::Path(path), credentials, scope })
            }
            AuthSpec::OAuthElsewhere(OAuthUrlAuth { url, credentials, scope, .. }) => {
                Self::OAuth(OAuth { endpoint: TokenEndpoint::Url(url), credentials, scope })
            }
        }
    }
}
