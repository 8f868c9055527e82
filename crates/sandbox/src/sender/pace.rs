//! The rate at which webhooks go out.

use std::time::{Duration, Instant};

/// The timer is coarse: so much lateness is caught up, and no more.
const LATENESS_MAX: Duration = Duration::from_millis(20);

/// Keeps paced requests apart; the others pass.
#[derive(Debug)]
pub(super) struct Pace {
    gap: Option<Duration>,
    next: Instant,
}

impl Pace {
    /// So many a second; 0 is as many as come.
    pub(super) fn new(rate: f64) -> Self {
        Self { gap: (rate > 0.0).then(|| Duration::from_secs_f64(1.0 / rate)), next: Instant::now() }
    }

    /// Returns when the next request may go.
    pub(super) async fn wait(&mut self, paced: bool) {
        let (Some(gap), true) = (self.gap, paced) else {
            return;
        };
        let now = Instant::now();
        let slot = self.next.max(now.checked_sub(LATENESS_MAX).unwrap_or(now));
        self.next = slot + gap;
        if slot > now {
            tokio::time::sleep_until(slot.into()).await;
        }
    }
}
