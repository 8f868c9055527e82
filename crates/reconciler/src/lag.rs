//! How far behind now the reading of a source is: the metric.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use metrics::gauge;
use service::metrics as names;

/// Up to which instant everything the API has was read. It grows through a complete round also when nothing
/// changed at the provider, so that a quiet shop is not a late one.
#[derive(Debug)]
pub(crate) struct Lag {
    source: String,
    /// For each list. A source is as late as its latest.
    read_through_us: Vec<AtomicI64>,
    /// How much later than usual each list may be, because it is read more rarely.
    allowed_us: Vec<i64>,
}

const NEVER: i64 = i64::MIN;

impl Lag {
    /// For a source whose lists are read at these paces, where usual is `usual`.
    pub(crate) fn new(source: &str, paces: &[Duration], usual: Duration) -> Self {
        let allowed =
            |pace: &Duration| i64::try_from(pace.saturating_sub(usual).as_micros()).unwrap_or(i64::MAX);
        Self {
            source: source.to_owned(),
            read_through_us: paces.iter().map(|_| AtomicI64::new(NEVER)).collect(),
            allowed_us: paces.iter().map(allowed).collect(),
        }
    }

    /// Everything in this list up to this instant was read.
    pub(crate) fn reached(&self, list: usize, instant: Timestamp) {
        if let Some(read_through) = self.read_through_us.get(list) {
            read_through.fetch_max(instant.as_microsecond(), Ordering::Relaxed);
        }
    }

    /// Publishes how long ago that is. A process that never led has nothing to say; one that lost the lead shows a
    /// growing number until it leads again, and the smallest of all processes is the truth.
    pub(crate) fn show(&self, now: Timestamp) {
        let lists = self.read_through_us.iter().zip(&self.allowed_us);
        let of = |(list, allowed): (&AtomicI64, &i64)| match list.load(Ordering::Relaxed) {
            NEVER => NEVER,
            read_through => read_through.saturating_add(*allowed),
        };
        let read_through = lists.map(of).min().unwrap_or(NEVER);
        if read_through != NEVER {
            let behind = now.as_microsecond().saturating_sub(read_through);
            let seconds = Duration::from_micros(u64::try_from(behind).unwrap_or(0)).as_secs_f64();
            gauge!(names::RECONCILER_LAG_SECONDS, "source" => self.source.clone()).set(seconds);
        }
    }
}
