//! One table of cases that every kind of destination passes, each against its real server.
//!
//! | Case | What must hold |
//! |---|---|
//! | success | delivered at the first attempt, there once |
//! | permanent failure | dead at once, nothing there, the next one goes |
//! | transient failure, then success | tried again and delivered, there once |
//! | time-out | ended in time, tried again under the same key |
//! | slow answer within time | delivered at the first attempt |
//! | duplicate | a result that was lost: carried again under the same key |
//! | restart of the destination in the middle | nothing missing |
//! | restart of the publisher in the middle | nothing missing, only what was in flight came twice |
//!
//! A kind is added by a file that implements [`Kind`] and a line at the end of this one.

mod cases;
mod file;
mod http;
mod nats;
pub(crate) mod smtp;

use std::path::Path;

use serde_json::{Value, json};
use service::settings::Configured;
use tempfile::TempDir;

use crate::stage::{Stage, span};

/// The destination of these tests.
const NAME: &str = "conformance";

/// What a destination does with what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Takes it.
    Willing,
    /// Refuses it for good.
    RefusingForGood,
    /// Refuses it for now.
    RefusingForNow,
    /// Says nothing.
    Silent,
    /// Takes it, and says so after a while.
    Slow,
}

/// A kind of destination with its real server.
pub(crate) trait Kind: Sized {
    /// Starts the server; `None` when this machine cannot have it (never in CI).
    async fn start() -> Option<Self>;

    /// The keys of its section, except those that all kinds have.
    fn section(&self, folder: &Path) -> String;

    /// From now on it does so. False where this kind knows no such thing.
    async fn set(&mut self, mood: Mood) -> bool;

    /// The idempotency keys of what arrived, in their order, again where it came again.
    async fn arrived(&self) -> Vec<String>;

    /// It is gone.
    async fn down(&mut self);

    /// It is back, with what it had.
    async fn up(&mut self);

    /// The fields of an effect that it takes, or refuses for good in that mood.
    fn fields(&self) -> Value {
        json!({ "customer_email": "ana@example.com", "total_minor": 12990 })
    }
}

/// A kind, a database with effects for it, and a folder with its configuration.
pub(crate) struct Bench<K> {
    pub(crate) kind: K,
    pub(crate) stage: Stage,
    pub(crate) folder: TempDir,
}

impl<K: Kind> Bench<K> {
    pub(crate) async fn new() -> Option<Self> {
        let kind = K::start().await?;
        let folder = tempfile::tempdir().unwrap();
        let section = format!(
            "[destinations.{NAME}]\nconcurrency = 8\nbackoff_base = \"50ms\"\nbackoff_cap = \"200ms\"\nattempts_max = 1000\n{}\n",
            kind.section(folder.path())
        );
        std::fs::write(folder.path().join("own.toml"), section).unwrap();
        let mut stage = Stage::new("http://127.0.0.1:9/").await;
        stage.destination = Configured::load(folder.path()).unwrap().destinations.remove(NAME).unwrap();
        stage.settings.breaker_pause_max = span(200);
        Some(Self { kind, stage, folder })
    }

    /// Puts the mood on, or says that this kind has no such thing.
    pub(crate) async fn set(&mut self, mood: Mood) -> bool {
        let has = self.kind.set(mood).await;
        if !has {
            println!("{}: has no {mood:?}", self.stage.destination.settings.reach.name());
        }
        has
    }

    /// An effect of this resource that the kind takes.
    pub(crate) async fn effect(&self, resource: &str) -> uuid::Uuid {
        self.stage.effect_with(resource, "release_picking", 0, self.kind.fields()).await
    }
}

macro_rules! conforms {
    ($kind:ident: $type:ty) => {
        mod $kind {
            use super::super::cases;

            type It = $type;

            conforms!(@case It,
                success, permanent_failure, transient_failure_then_success, time_out, slow_answer_within_time,
                duplicate, restart_of_the_destination_in_the_middle, restart_of_the_publisher_in_the_middle
            );
        }
    };
    (@case $type:ty, $($case:ident),+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                cases::$case::<$type>().await;
            }
        )+
    };
}

mod kinds {
    conforms!(http: crate::conformance::http::Http);
    conforms!(smtp: crate::conformance::smtp::Smtp);
    conforms!(nats: crate::conformance::nats::Nats);
    conforms!(file: crate::conformance::file::File);
}
