//! How the next page of a list is found.

/// How the next page is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paging {
    /// The answer's body holds a token that the next call repeats.
    Token {
        /// The parameter that takes the token.
        param: String,
    },
    /// A header of the answer holds such a token.
    HeaderToken {
        /// The parameter that takes the token.
        param: String,
        /// The header's name.
        header: String,
    },
    /// The id of the page's last item is what the next call goes on from.
    LastId {
        /// The parameter that takes the id.
        param: String,
    },
    /// Pages have numbers.
    Page {
        /// The parameter that takes the number.
        param: String,
        /// The number of the first.
        first: u64,
    },
    /// Pages start so many items from the first.
    Offset {
        /// The parameter that takes the number of items to skip.
        param: String,
    },
    /// The answer's body holds the next page's address.
    NextUrl,
    /// The answer's `Link` header holds it, as the relation `next` (RFC 8288).
    LinkHeader,
}

/// What an answer tells about there being more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Whether there are more pages, where the answer says so.
    pub(crate) more: Option<bool>,
    /// How many items there are in all.
    pub(crate) total: Option<u64>,
}

impl Paging {
    /// Whether the next page is named by its address.
    pub(crate) fn is_address(&self) -> bool {
        matches!(self, Self::NextUrl | Self::LinkHeader)
    }

    /// Whether pages are counted: then they move when the list changes.
    pub fn is_numbered(&self) -> bool {
        matches!(self, Self::Page { .. } | Self::Offset { .. })
    }

    /// The parameter that asks for a page.
    pub(crate) fn parameter(&self, page: Option<&str>) -> Option<(&str, String)> {
        match (self, page) {
            (
                Self::Token { param }
                | Self::HeaderToken { param, .. }
                | Self::LastId { param }
                | Self::Page { param, .. }
                | Self::Offset { param },
                Some(page),
            ) => Some((param, page.to_owned())),
            (Self::Page { param, first }, None) => Some((param, first.to_string())),
            _ => None,
        }
    }

    /// What asks for the page after `page`, which had `items` of at most `limit`, and named `next`; nothing after the
    /// last.
    pub(crate) fn next(
        &self,
        page: Option<&str>,
        items: usize,
        limit: u32,
        next: Option<String>,
        told: Told,
    ) -> Option<String> {
        let items = u64::try_from(items).ok()?;
        let limit = u64::from(limit);
        let number = |usual| page.map_or(Some(usual), |page| page.parse::<u64>().ok());
        if told.more == Some(false) {
            return None;
        }
        // A full page has more behind it whatever the total says: totals are counted earlier, and capped.
        let goes_on = |done: u64| match (told.more, told.total) {
            (Some(more), _) => more,
            (None, Some(total)) => done < total || items >= limit,
            (None, None) => may_be_full(items, limit),
        };
        match self {
            Self::Token { .. } | Self::HeaderToken { .. } | Self::NextUrl | Self::LinkHeader => next,
            // Without the answer's word the end is an empty page: a short one may be a provider's smaller maximum.
            Self::LastId { .. } if items == 0 => None,
            Self::LastId { .. } => next,
            Self::Page { .. } | Self::Offset { .. } if items == 0 => None,
            Self::Page { first, .. } => {
                let number = number(*first)?;
                // How many items the pages before had is not known where the provider's maximum is smaller than the
                // limit: as many as this one at least, or all was read but for a short last page.
                let done = number.checked_sub(*first)?.saturating_add(1).saturating_mul(items);
                goes_on(done).then(|| number.checked_add(1)).flatten().map(|next| next.to_string())
            }
            Self::Offset { .. } => {
                let done = number(0)?.checked_add(items)?;
                goes_on(done).then(|| done.to_string())
            }
        }
    }
}

/// Whether a page may be as long as the provider makes them. Its maximum may be smaller than the limit asked for, and
/// nothing says so; but such maxima are round numbers, so only other lengths are sure to be the end.
fn may_be_full(items: u64, limit: u64) -> bool {
    items >= limit || items.is_multiple_of(ROUND)
}

/// What the maxima of all providers can be divided by.
const ROUND: u64 = 5;

/// The address with the relation `next` in a `Link` header.
pub(crate) fn next_link(header: &str) -> Option<String> {
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>')?;
        let address = rest[start + 1..end].trim();
        let (parameters, after) = parameters(&rest[end + 1..]);
        if is_next(parameters) {
            return (!address.is_empty()).then(|| address.to_owned());
        }
        rest = after;
    }
    None
}

/// What belongs to a link, up to the comma outside of quotes.
fn parameters(text: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

fn is_next(parameters: &str) -> bool {
    parameters.split(';').any(|parameter| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("rel")
                && value
                    .trim()
                    .trim_matches('"')
                    .split_whitespace()
                    .any(|rel| rel.eq_ignore_ascii_case("next"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_link_is_found_wherever_it_stands() {
        let next = |header: &str| next_link(header).unwrap_or_default();
        assert_eq!(next(r#"<https://a/b?c=1>; rel="next""#), "https://a/b?c=1");
        assert_eq!(
            next(r#"<https://a/1>; rel="previous", <https://a/3,x>; title="a, b"; REL=next"#),
            "https://a/3,x"
        );
        assert_eq!(next(r#"<https://a/1>; rel="first next""#), "https://a/1");
        for none in
            ["", "<", "<a", r#"<https://a>; rel="last""#, r#"<https://a>; title="rel=next""#, "<>; rel=next"]
        {
            assert_eq!(next_link(none), None, "{none}");
        }
    }

    #[test]
    fn numbered_pages_end_by_the_answers_word_before_their_length() {
        let page = Paging::Page { param: "page".into(), first: 1 };
        let next = |at: Option<&str>, items, told| page.next(at, items, 2, None, told);
        assert_eq!(next(None, 2, Told::default()).as_deref(), Some("2"));
        assert_eq!(next(Some("2"), 1, Told::default()), None);
        assert_eq!(next(Some("2"), 1, Told { more: Some(true), total: None }).as_deref(), Some("3"));
        assert_eq!(next(Some("2"), 2, Told { more: Some(false), total: None }), None);
        assert_eq!(next(Some("2"), 1, Told { more: None, total: Some(2) }), None);
        assert_eq!(next(Some("2"), 2, Told { more: None, total: Some(5) }).as_deref(), Some("3"));
        // A total that was counted too low, or capped.
        assert_eq!(next(Some("2"), 2, Told { more: None, total: Some(4) }).as_deref(), Some("3"));
        let offset = Paging::Offset { param: "offset".into() };
        assert_eq!(
            offset.next(Some("4"), 1, 2, None, Told { more: None, total: Some(9) }).as_deref(),
            Some("5")
        );
        assert_eq!(offset.next(Some("4"), 0, 2, None, Told { more: None, total: Some(9) }), None);
    }

    #[test]
    fn a_page_that_is_short_by_the_providers_own_maximum_is_not_the_last() {
        let page = Paging::Page { param: "page".into(), first: 1 };
        let next = |at: Option<&str>, items, told| page.next(at, items, 100, None, told);
        let unknown = Told::default();
        assert_eq!(next(None, 50, unknown).as_deref(), Some("2"));
        assert_eq!(next(Some("2"), 49, unknown), None);
        assert_eq!(next(Some("2"), 0, unknown), None);
        let total = Told { more: None, total: Some(120) };
        assert_eq!(next(None, 50, total).as_deref(), Some("2"));
        assert_eq!(next(Some("2"), 50, total).as_deref(), Some("3"));
        assert_eq!(next(None, 7, Told { more: None, total: Some(7) }), None);
    }
}
