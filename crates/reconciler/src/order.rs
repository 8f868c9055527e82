//! Whether an API's list comes in the order of change: only then may the cursor follow it page by page. That it looks
//! so far as if it did is no sign, the provider must promise it; that it does not is one.

use jiff::Timestamp;

/// What the instants of a list's items tell, in the order they came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    latest: Option<Timestamp>,
    ascending: bool,
}

impl Order {
    /// Before the first item of a list whose provider promises the order, or does not.
    pub(crate) fn new(promised: bool) -> Self {
        Self { latest: None, ascending: promised }
    }

    /// The instant of the next item.
    pub(crate) fn note(&mut self, instant: Timestamp) {
        self.ascending &= self.latest.is_none_or(|latest| latest <= instant);
        self.latest = self.latest.max(Some(instant));
    }

    /// The greatest instant so far.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.latest
    }

    /// The list is asked anew: what came may come again.
    pub(crate) fn starts_again(&mut self) {
        self.latest = None;
    }

    /// Whether the order is promised and no item so far was older than one before it: what is still to come then lies
    /// after what came.
    pub(crate) fn is_ascending(&self) -> bool {
        self.ascending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending(promised: bool, seconds: &[i64]) -> bool {
        let mut order = Order::new(promised);
        seconds.iter().for_each(|second| order.note(Timestamp::from_second(*second).unwrap()));
        order.is_ascending()
    }

    #[test]
    fn one_older_item_shows_that_the_list_is_not_by_time() {
        assert!(ascending(true, &[]));
        assert!(ascending(true, &[1, 1, 2, 5]));
        assert!(!ascending(true, &[1, 3, 2, 4]));
        assert!(!ascending(true, &[3, 2, 9]));
    }

    #[test]
    fn what_comes_again_in_a_list_that_is_asked_anew_is_no_sign() {
        let mut order = Order::new(true);
        [5, 9].iter().for_each(|second| order.note(Timestamp::from_second(*second).unwrap()));
        assert_eq!(order.latest().map(Timestamp::as_second), Some(9));
        order.starts_again();
        order.note(Timestamp::from_second(8).unwrap());
        assert!(order.is_ascending());
    }

    #[test]
    fn a_list_without_the_promise_is_never_by_time() {
        assert!(!ascending(false, &[]));
        assert!(!ascending(false, &[1, 1, 2, 5]));
    }
}
