//! Where a page of the store's API begins: keyset paging by `(updated_at, id)`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;

/// A place in the list of orders by last change. An order's number sorts as its id does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    updated_us: i64,
    /// The order's number.
    pub order: u64,
}

impl Position {
    /// The place of an order.
    pub fn new(updated_at: Timestamp, order: u64) -> Self {
        Self { updated_us: updated_at.as_microsecond(), order }
    }

    /// The place before all orders that changed at `updated_at` or later.
    pub fn since(updated_at: Timestamp) -> Self {
        Self::new(updated_at, 0)
    }

    /// The opaque token that stands for it.
    pub fn to_token(self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}:{}", self.updated_us, self.order))
    }

    /// Reads a token; `None` when the store never gave it.
    pub fn from_token(token: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let (updated_us, order) = text.split_once(':')?;
        Some(Self { updated_us: updated_us.parse().ok()?, order: order.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn a_token_stands_for_its_position_and_nonsense_for_none() {
        let at = Position::new(clock::now(), 17);
        assert_eq!(Position::from_token(&at.to_token()), Some(at));
        assert_eq!(Position::from_token("x"), None);
        assert_eq!(Position::from_token(""), None);
    }
}
