//! How much memory the bodies in work may take in all: being read, or waiting for their commit.
//!
//! Without it, thousands of senders that stall before their last byte would each hold almost a whole body, signed or
//! not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// The memory for bodies, shared by all workers.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    used: Arc<AtomicUsize>,
    bytes_max: usize,
}

/// Memory taken by one body; given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Reserved {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { used: Arc::default(), bytes_max }
    }

    /// Nothing yet, for a body that is about to be read.
    pub(crate) fn open(&self) -> Reserved {
        Reserved { budget: self.clone(), bytes: 0 }
    }
}

impl Reserved {
    /// Takes so many bytes more; false, and nothing taken, when they are not there.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let before = self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.budget.bytes_max {
            self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }
}

/// No stream of gzip or deflate becomes more than this many times as large.
const INFLATES_TO_TIMES: usize = 1032;

/// The most that inflating so many bytes takes: the plain bytes, and once more as the text that is read.
pub(crate) fn inflated_most(compressed: usize, bytes_max: usize) -> usize {
    compressed.saturating_mul(INFLATES_TO_TIMES).min(bytes_max).saturating_mul(2)
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again_and_more_than_there_is_cannot() {
        let budget = Budget::new(100);
        let (mut first, mut second) = (budget.open(), budget.open());
        assert!(first.grow(60) && first.grow(30));
        assert!(!second.grow(11));
        assert!(second.grow(10));
        drop(first);
        assert!(second.grow(90));
        assert!(!budget.open().grow(1));
    }
}
