//! Whether an API's list really comes in the order of change: only then may the cursor follow it page by page.

use jiff::Timestamp;

/// What the instants of a list's items tell, in the order they came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    latest: Option<Timestamp>,
    ascending: bool,
}

impl Order {
    pub(crate) fn new() -> Self {
        Self { latest: None, ascending: true }
    }

    /// The instant of the next item.
    pub(crate) fn note(&mut self, instant: Timestamp) {
        self.ascending &= self.latest.is_none_or(|latest| latest <= instant);
        self.latest = self.latest.max(Some(instant));
    }

    /// Whether no item so far was older than one before it: what is still to come then lies after what came.
    pub(crate) fn is_ascending(&self) -> bool {
        self.ascending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending(seconds: &[i64]) -> bool {
        let mut order = Order::new();
        seconds.iter().for_each(|second| order.note(Timestamp::from_second(*second).unwrap()));
        order.is_ascending()
    }

    #[test]
    fn one_older_item_shows_that_the_list_is_not_by_time() {
        assert!(ascending(&[]));
        assert!(ascending(&[1, 1, 2, 5]));
        assert!(!ascending(&[1, 3, 2, 4]));
        assert!(!ascending(&[3, 2, 9]));
    }
}
