//! When the provider may be asked next: what its answers say of how much is left.

use std::{sync::Mutex, time::Duration};

use http::HeaderMap;
use jiff::Timestamp;
use profile::Rate;
use tokio::time::Instant;

use crate::trouble::header;

/// The pace of the calls to one provider, whoever makes them.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    not_before: Mutex<Option<Instant>>,
}

impl Pace {
    /// How long the next call has to wait.
    pub(crate) fn wait(&self) -> Duration {
        let not_before = self.not_before.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        not_before.map_or(Duration::ZERO, |instant| instant.saturating_duration_since(Instant::now()))
    }

    /// Learns from an answer; no wait is longer than `longest`.
    pub(crate) fn learn(&self, rate: &Rate, headers: &HeaderMap, now: Timestamp, longest: Duration) {
        let pause = rate.pace(&|name| header(headers, name), now).min(longest);
        if !pause.is_zero() {
            let mut not_before = self.not_before.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *not_before = (*not_before).max(Some(Instant::now() + pause));
        }
    }
}
