//! How an effect is carried: one trait, one kind of destination a file.

pub(crate) mod file;
pub(crate) mod http;
mod nats;
mod smtp;
mod sql;

use std::{sync::Arc, time::Duration};

use db::{Options, outbox::ClaimedEffect};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use service::settings::{Destination, PublisherSettings, Reach};

use crate::answer::Answer;

/// One effect that is to be carried now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivery<'a> {
    /// What is carried. Its id is the idempotency key at each attempt.
    pub(crate) effect: &'a ClaimedEffect,
    /// When the attempt begins.
    pub(crate) now: Timestamp,
    /// Longest time that it may take. Whoever calls [`Transport::carry`] ends it after that in any case.
    pub(crate) time: Duration,
}

/// A kind of destination. Implementations hold their connections, follow secrets that change, and bound what they read.
pub(crate) trait Transport: Send + Sync {
    /// Carries one effect and says what came of it. Dropped before its end, the destination may have acted all the same:
    /// then the effect is carried again under the same key.
    fn carry<'a>(&'a self, delivery: Delivery<'a>) -> BoxFuture<'a, Answer>;
}

/// What the transports need besides the settings of their destination.
#[derive(Clone)]
pub(crate) struct Surroundings<'a> {
    /// `[publisher]`
    pub(crate) publisher: &'a PublisherSettings,
    /// How to open connections to Ordem's own database.
    pub(crate) database: &'a Options,
    /// Most calls in flight.
    pub(crate) concurrency: usize,
}

/// The transport of a destination.
///
/// # Errors
/// When its address, its secrets or what else it is made of cannot be used.
pub(crate) fn of(
    destination: &Destination,
    surroundings: &Surroundings<'_>,
) -> anyhow::Result<Arc<dyn Transport>> {
    Ok(match &destination.settings.reach {
        Reach::Http(settings) => {
            Arc::new(http::Http::new(settings, &destination.settings.care, surroundings.publisher)?)
        }
        Reach::Sql(settings) => {
            Arc::new(sql::Sql::new(settings, surroundings.database, surroundings.concurrency)?)
        }
        Reach::Smtp(settings) => {
            Arc::new(smtp::Smtp::new(settings, &destination.settings.care, surroundings.publisher)?)
        }
        Reach::Nats(settings) => Arc::new(nats::Nats::new(settings, surroundings.publisher)?),
        Reach::File(settings) => Arc::new(file::Lines::File(settings.path.clone())),
        Reach::Stdout(_) => Arc::new(file::Lines::Stdout),
    })
}
