//! Splits the answers of a provider's API into items.

use crate::api::Get;
use crate::document::{self, Unreadable};
use crate::leaf::Leaf;
use crate::list::List;
use crate::paging::{Paging, Told, next_link};
use crate::place::Place;
use crate::shape::{Leaves, Shape};

/// Most items read from one page.
const ITEMS_MAX: usize = 10_000;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// The exact bytes of each item.
    pub items: Vec<&'a [u8]>,
    /// What asks for the next page; nothing on the last.
    pub next: Option<String>,
}

/// Why an answer is no page. The cursor must not move past it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The answer cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The items are not where the profile says.
    #[error("{place} is {found}, not {expected}")]
    NotThere {
        /// Where they should be.
        place: String,
        /// What stands there.
        found: &'static str,
        /// What should stand there.
        expected: &'static str,
    },
}

/// Where items, and what tells of the next page, stand in an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageShape {
    pub(crate) shape: Shape,
    /// None when the answer itself is the list (or the item).
    pub(crate) items: Option<Place>,
    /// The next page's token or address.
    pub(crate) next: Option<Place>,
    /// Whether there are more.
    pub(crate) more: Option<Place>,
    /// How many items there are in all.
    pub(crate) total: Option<Place>,
    /// The id of an item, in a shape of its own.
    pub(crate) id: Option<(Shape, Place)>,
}

impl List {
    /// Splits the answer to the call for `page`; `header` gives its headers.
    ///
    /// # Errors
    /// The answer is not the page that the profile describes.
    pub fn page<'a>(
        &self,
        page: Option<&str>,
        body: &'a [u8],
        header: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Page<'a>, PageError> {
        let split = self.page.split(body, "a list")?;
        if document::first_letter(split.raw) != Some(b'[') {
            return Err(self.page.not_there(document::describe(document::first_letter(split.raw)), "a list"));
        }
        let items: Vec<_> =
            document::elements(split.raw, ITEMS_MAX)?.into_iter().map(str::as_bytes).collect();
        let next = match &self.paging {
            Paging::HeaderToken { header: name, .. } => header(name).filter(|token| !token.trim().is_empty()),
            Paging::LinkHeader => header("link").and_then(|link| next_link(&link)),
            Paging::LastId { .. } => self.page.last_id(&items)?,
            Paging::Token { .. } | Paging::Page { .. } | Paging::Offset { .. } | Paging::NextUrl => {
                split.next
            }
        };
        let next = self.paging.next(page, items.len(), self.limit, next, split.told);
        Ok(Page { items, next })
    }
}

impl Get {
    /// The items in the answer to a call for one resource: one, or as many as the provider has for it.
    ///
    /// # Errors
    /// The answer is not what the profile describes.
    pub fn read<'a>(&self, body: &'a [u8]) -> Result<Vec<&'a [u8]>, PageError> {
        if self.is_list {
            let raw = self.item.raw(body, "a list")?;
            return Ok(document::elements(raw, ITEMS_MAX)?.into_iter().map(str::as_bytes).collect());
        }
        let raw = self.item.raw(body, "an object")?;
        match document::first_letter(raw) {
            Some(b'{') => Ok(vec![raw.as_bytes()]),
            other => Err(self.item.not_there(document::describe(other), "an object")),
        }
    }
}

/// An answer, taken apart.
struct Split<'a> {
    raw: &'a str,
    next: Option<String>,
    told: Told,
}

impl PageShape {
    /// The raw text of the items, or of the one item.
    pub(crate) fn raw<'a>(&self, body: &'a [u8], expected: &'static str) -> Result<&'a str, PageError> {
        self.split(body, expected).map(|split| split.raw)
    }

    fn split<'a>(&self, body: &'a [u8], expected: &'static str) -> Result<Split<'a>, PageError> {
        let text = document::text(body)?;
        let told = Told::default();
        let Some(Place::Body { slot, .. }) = &self.items else {
            return Ok(Split { raw: text, next: None, told });
        };
        let leaves = self.shape.extract(text)?;
        let raw = leaves.raw(*slot).ok_or_else(|| self.not_there("missing", expected))?;
        let token = |place: &Option<Place>| match place {
            Some(place) => token(place, &leaves),
            None => Ok(None),
        };
        let told =
            Told { more: self.more(&leaves)?, total: token(&self.total)?.and_then(|text| text.parse().ok()) };
        Ok(Split { raw, next: token(&self.next)?, told })
    }

    /// Whether there are more pages; an answer that should say so and does not is no page.
    fn more(&self, leaves: &Leaves<'_>) -> Result<Option<bool>, PageError> {
        let Some(place) = &self.more else { return Ok(None) };
        match place.leaf(leaves, &())? {
            Leaf::Boolean(more) => Ok(Some(more)),
            leaf => Err(PageError::NotThere {
                place: place.to_string(),
                found: leaf.describe(),
                expected: "true or false",
            }),
        }
    }

    fn last_id(&self, items: &[&[u8]]) -> Result<Option<String>, PageError> {
        let (Some((shape, place)), Some(last)) = (&self.id, items.last()) else { return Ok(None) };
        let leaves = shape.extract(document::text(last)?)?;
        token(place, &leaves)
    }

    fn not_there(&self, found: &'static str, expected: &'static str) -> PageError {
        let place = self.items.as_ref().map_or_else(|| "the answer".to_owned(), Place::to_string);
        PageError::NotThere { place, found, expected }
    }
}

/// A text or number; nothing where it is absent, null or empty.
fn token(place: &Place, leaves: &Leaves<'_>) -> Result<Option<String>, PageError> {
    match place.leaf(leaves, &())? {
        leaf if leaf.is_empty() => Ok(None),
        Leaf::Text(token) => Ok(Some(token.into_owned())),
        Leaf::Number(digits) => Ok(Some(digits.into_owned())),
        other => Err(PageError::NotThere {
            place: place.to_string(),
            found: other.describe(),
            expected: "a token",
        }),
    }
}
