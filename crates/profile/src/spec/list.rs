//! The provider's lists, as a profile writes them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::list::SinceFormat;

/// `[api.list]` or `[[api.lists]]`: reading what changed since an instant, page by page.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSpec {
    /// The cursor's name; the path unless set.
    pub(crate) name: Option<String>,
    /// `GET` unless set.
    #[serde(default)]
    pub(crate) method: ListMethod,
    /// The path; `{constant:NAME}` may stand in it.
    pub(crate) path: String,
    /// What a `POST` always sends; parameters are dotted paths in it.
    pub(crate) body: Option<serde_json::Map<String, serde_json::Value>>,
    /// Parameters that are always sent.
    #[serde(default)]
    pub(crate) query: BTreeMap<String, String>,
    /// Takes the lower bound.
    pub(crate) since_param: Option<String>,
    /// How it is spelt.
    #[serde(default)]
    pub(crate) since_format: SinceFormat,
    /// Takes the upper bound.
    pub(crate) until_param: Option<String>,
    /// How it is spelt; as the lower one unless set.
    pub(crate) until_format: Option<SinceFormat>,
    /// Takes the page size.
    pub(crate) limit_param: Option<String>,
    /// The page size.
    #[serde(default = "hundred")]
    pub(crate) limit: u32,
    /// Where the items stand in the answer; empty when the answer is the list itself.
    pub(crate) items: String,
    /// `"event"`, or one of `[api.items]`; `[api.item]` unless set.
    pub(crate) reader: Option<String>,
    /// How the next page is found.
    pub(crate) paging: PagingSpec,
    /// Whether the provider promises that the list ascends by the instant it was changed at.
    #[serde(default)]
    pub(crate) sorted: bool,
    /// Longest stretch of time in one call.
    pub(crate) window_max: Option<String>,
    /// How far back the provider can tell.
    pub(crate) retention: Option<String>,
    /// Each round reads this much before now, without a cursor.
    pub(crate) sliding: Option<String>,
    /// Instead of `reconciler.every`.
    pub(crate) every: Option<String>,
    /// Instead of `reconciler.overlap`.
    pub(crate) overlap: Option<String>,
    /// Instead of `reconciler.lag`.
    pub(crate) lag: Option<String>,
}

/// How a list is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ListMethod {
    #[default]
    Get,
    Post,
}

fn hundred() -> u32 {
    100
}

/// `paging = { style = "…", … }`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "style", rename_all = "kebab-case")]
pub(crate) enum PagingSpec {
    Token(TokenSpec),
    HeaderToken(HeaderTokenSpec),
    LastId(LastIdSpec),
    Page(NumberedSpec),
    Offset(OffsetSpec),
    NextUrl(NextUrlSpec),
    LinkHeader(LinkHeaderSpec),
}

/// The answer names the next page by a token.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenSpec {
    /// Takes the token.
    pub(crate) param: String,
    /// Where the token stands in the answer.
    pub(crate) next: String,
    /// Where the answer says whether there are more.
    pub(crate) more: Option<String>,
}

/// A header of the answer names the next page by a token.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderTokenSpec {
    /// Takes the token.
    pub(crate) param: String,
    /// The answer's header that holds it.
    pub(crate) header: String,
}

/// The next page follows the last item's id.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct LastIdSpec {
    /// Takes the id.
    pub(crate) param: String,
    /// Where the id stands in an item.
    pub(crate) id: String,
    /// Where the answer says whether there are more.
    pub(crate) more: Option<String>,
}

/// Pages have numbers.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberedSpec {
    /// Takes the number.
    pub(crate) param: String,
    /// The first page's number.
    #[serde(default = "one")]
    pub(crate) first: u64,
    /// Where the answer says whether there are more.
    pub(crate) more: Option<String>,
    /// Where it tells how many items there are in all.
    pub(crate) total: Option<String>,
}

fn one() -> u64 {
    1
}

/// Pages start so many items from the first.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct OffsetSpec {
    /// Takes the number of items to pass over.
    pub(crate) param: String,
    /// Where the answer says whether there are more.
    pub(crate) more: Option<String>,
    /// Where it tells how many items there are in all.
    pub(crate) total: Option<String>,
}

/// The answer's body holds the next page's address.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NextUrlSpec {
    /// Where the address stands in the answer.
    pub(crate) next: String,
    /// Where the answer says whether there are more.
    pub(crate) more: Option<String>,
}

/// The answer's `Link` header holds it.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkHeaderSpec {}
