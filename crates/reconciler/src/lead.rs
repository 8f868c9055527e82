//! One leader per source, and its rounds.

use std::{sync::Arc, time::Duration};

use db::{Options, cursors::Candidate};
use futures_util::future::{join_all, join3};
use metrics::gauge;
use service::{ROUND_TRIP_MAX, metrics as names};

use crate::{End, backoff::about, reread, source::SourceReader, watch};

/// How often a process that does not lead tries to, and one that leads looks whether it still does.
const TRY_EVERY: Duration = Duration::from_secs(2);
const RECONNECT_MAX: Duration = Duration::from_secs(10);
/// Least wait after a round that failed.
const FAILED_MIN: Duration = Duration::from_secs(30);
/// Most of the wait before a leader's first round.
const FIRST_ROUND_WITHIN: Duration = Duration::from_millis(250);

/// Stands for the lead of the source and reads it while leading, until the stop.
pub(crate) async fn keep(reader: Arc<SourceReader>, database: Options) {
    let shutdown = &reader.parts.shutdown;
    let mut pause = TRY_EVERY;
    show_lead(&reader, false);
    while !shutdown.is_triggered() {
        let Some(stood) = shutdown.unless_triggered(Candidate::stand(&database, &reader.name)).await else {
            break;
        };
        let lost = match stood {
            Ok(candidate) => {
                pause = TRY_EVERY;
                stand(&reader, &candidate).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = lost {
            tracing::warn!(source = reader.name, %error, "no session for the lead, opening another");
            reader.lag.show(reader.now());
            shutdown.sleep(about(pause)).await;
            pause = (pause * 2).min(RECONNECT_MAX);
        }
    }
}

/// Tries until it leads, then leads until the session is lost or the stop comes.
///
/// # Errors
/// When the session is lost.
async fn stand(reader: &SourceReader, candidate: &Candidate) -> db::Result<()> {
    let shutdown = &reader.parts.shutdown;
    while !shutdown.is_triggered() {
        if bounded(candidate.try_lead()).await? {
            return lead(reader, candidate).await;
        }
        reader.lag.show(reader.now());
        shutdown.sleep(about(TRY_EVERY)).await;
    }
    Ok(())
}

async fn lead(reader: &SourceReader, candidate: &Candidate) -> db::Result<()> {
    tracing::info!(source = reader.name, "leading: this process reads the source's API");
    show_lead(reader, true);
    let ended = tokio::select! {
        lost = keep_watch(reader, candidate) => Err(lost),
        () = rounds(reader) => Ok(()),
    };
    show_lead(reader, false);
    ended
}

/// Returns when the session, and with it the lead, is lost.
async fn keep_watch(reader: &SourceReader, candidate: &Candidate) -> db::Error {
    loop {
        tokio::time::sleep(TRY_EVERY).await;
        reader.lag.show(reader.now());
        if let Err(error) = bounded(candidate.probe()).await {
            return error;
        }
    }
}

/// Reads round after round until the stop, each list at its own pace.
async fn rounds(reader: &SourceReader) {
    let shutdown = &reader.parts.shutdown;
    shutdown.sleep(FIRST_ROUND_WITHIN.mul_f64(rand::random())).await;
    let lists = reader.api.lists.iter().enumerate().map(|(at, list)| async move {
        let every = list.every.unwrap_or_else(|| reader.settings().every.get());
        while !shutdown.is_triggered() {
            let (_, end) = reader.round_of(at).await;
            // A list that is read once a day is not left for a day because of one failure.
            let pause = match end {
                End::Failed(_) | End::PagesMax => every.min(FAILED_MIN.max(reader.settings().every.get())),
                End::Complete | End::Stopped => every,
            };
            shutdown.sleep(about(pause)).await;
        }
    });
    join3(join_all(lists), reread::rounds(reader), watch::rounds(reader)).await;
}

/// A session that does not answer in time is as good as lost.
async fn bounded<T>(asked: impl Future<Output = db::Result<T>>) -> db::Result<T> {
    tokio::time::timeout(ROUND_TRIP_MAX, asked).await.unwrap_or_else(|_| {
        Err(db::Error::Unavailable(format!("no answer within {} s", ROUND_TRIP_MAX.as_secs())))
    })
}

fn show_lead(reader: &SourceReader, leads: bool) {
    gauge!(names::RECONCILER_LEADER, "source" => reader.name.clone()).set(if leads { 1.0 } else { 0.0 });
}
