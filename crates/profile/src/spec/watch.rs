//! What tells whether the provider still sends to us, as a profile writes it.

use serde::Deserialize;

/// `[watch]`: looking after the subscription at the provider.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchSpec {
    /// The list of subscriptions.
    pub(crate) path: String,
    /// Where they stand in the answer; empty when the answer is the list itself.
    #[serde(default)]
    pub(crate) items: String,
    /// Which of them is ours.
    #[serde(rename = "match")]
    pub(crate) ours: MatchSpec,
    /// When ours is well, in CEL over `body`; that it is there unless set.
    pub(crate) healthy: Option<String>,
    /// Its id, for `enable`.
    pub(crate) id: Option<String>,
    /// Wait between two looks.
    pub(crate) every: String,
    /// How it is switched on again.
    pub(crate) enable: Option<EnableSpec>,
}

/// A path, and what stands there in our subscription: `{url}` is the source's `public_url`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct MatchSpec {
    /// Where the value stands.
    pub(crate) path: String,
    /// The value.
    pub(crate) equals: String,
}

/// `[watch.enable]`: switching it on again.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct EnableSpec {
    /// The method.
    pub(crate) method: EnableMethod,
    /// The path; `{id}` is the subscription's.
    pub(crate) path: String,
    /// The body, JSON as text.
    pub(crate) body: String,
}

/// How it is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum EnableMethod {
    Put,
    Patch,
    Post,
}
