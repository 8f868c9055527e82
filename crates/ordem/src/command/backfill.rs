//! `ordem backfill`: reads a window of time from a provider's API into the inbox, with progress.

use std::{path::Path, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use db::inbox::Origin;
use jiff::Timestamp;
use reconciler::{End, OpenError, Parts, Pulled, SourceReader};
use serde::Serialize;
use service::{Shutdown, SystemClock};

use crate::{
    failure::BadInput,
    report::{self, Report},
    session::Session,
    since,
    words::{harmless, instant},
};

mod progress;

use progress::Progress;

/// Read what changed at a provider within a window of time into the inbox, where the appliers find it
///
/// The first load, a migration, or a gap. It meets the same rules as webhooks do, stores nothing that is known, and may
/// be run again: after a failure or Ctrl-C it reads the window from its start and stores only what is missing. The
/// reconciler's cursor stays where it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name in the configuration; needs `api_url` and `api_token`, but no secret of its webhooks.
    source: String,
    /// Start of the window: an instant, or this long before now.
    #[arg(long, value_name = "INSTANT|TIME", value_parser = since::since)]
    from: since::Since,
    /// End of the window: an instant, or this long before now [default: now].
    #[arg(long, value_name = "INSTANT|TIME", value_parser = since::since)]
    to: Option<since::Since>,
    /// Read everything and count what would be stored; nothing is.
    #[arg(long)]
    dry_run: bool,
}

/// What was read.
#[derive(Debug, Serialize)]
pub(crate) struct Filled {
    source: String,
    dry_run: bool,
    from: Timestamp,
    to: Timestamp,
    /// Pages read.
    pages: u32,
    /// Items on them.
    items: u64,
    /// Events that entered the inbox, or would have.
    stored: u64,
    seconds: f64,
    /// Whether all of the window was read.
    complete: bool,
}

impl Args {
    /// Reads the window. What was stored is told also when it failed; why is told on standard error.
    pub(crate) async fn run(self, dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
        let session = Session::prepare(dir)?;
        let (from, to) = self.window(session.now)?;
        // A clear word on a wrong schema or an absent database, before anything is read.
        drop(session.client().await?);
        let shutdown = Shutdown::new();
        let place = session.place.clone();
        let now = session.now;
        let reader = open(&self.source, session, &shutdown)?;
        stop_on_interrupt(shutdown);

        let began = tokio::time::Instant::now();
        let mut progress = Progress::start(from, to);
        progress.say(&format!(
            "{} from {} to {}, into {place}",
            self.source,
            instant(from),
            if self.to.is_none() { format!("now ({})", instant(now)) } else { instant(to) },
        ));
        progress.take_over_logs();
        let mut tell = |pulled: &Pulled| progress.page(pulled);
        let (pulled, end) = match self.dry_run {
            false => Box::pin(reader.pull_window(from, to, Origin::Backfill, &mut tell)).await,
            true => Box::pin(reader.count_window(from, to, Origin::Backfill, &mut tell)).await,
        };
        progress.end(&pulled);
        match &end {
            End::Complete => {}
            End::Stopped => eprintln!("ordem: stopped before the window's end: run it again"),
            End::PagesMax => eprintln!("ordem: more pages than can be read: make the window smaller"),
            End::Failed(failure) => eprintln!(
                "ordem: {}: {}: what is stored stays, run it again",
                self.source,
                harmless(&failure.to_string())
            ),
        }
        let Pulled { pages, items, stored, .. } = pulled;
        let seconds = (began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        let complete = matches!(end, End::Complete);
        let Self { source, dry_run, .. } = self;
        report::print(&Filled { source, dry_run, from, to, pages, items, stored, seconds, complete }, json)
    }

    fn window(&self, now: Timestamp) -> Result<(Timestamp, Timestamp), BadInput> {
        let from = self.from.instant(now);
        let to = self.to.map_or(now, |to| to.instant(now));
        if from < to {
            Ok((from, to))
        } else {
            let (from, to) = (instant(from), instant(to));
            Err(BadInput::new(format!("the window ends ({to}) before it starts ({from})")))
        }
    }
}

fn open(source: &str, session: Session, shutdown: &Shutdown) -> anyhow::Result<SourceReader> {
    let known = &session.configured.profiles;
    if !known.contains_key(source) {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let names = names.join(", ");
        return Err(BadInput::new(format!("no source \"{source}\" (there are: {names})")).into());
    }
    let (configured, pool) = session.into_parts();
    let parts = Parts {
        configured: Arc::new(configured),
        pool,
        clock: Arc::new(SystemClock),
        shutdown: shutdown.clone(),
    };
    match SourceReader::open(source, parts) {
        Ok(reader) => Ok(reader),
        Err(OpenError::Off(reason) | OpenError::Unusable(reason)) => {
            Err(BadInput::new(format!("sources.{source}: {reason}")).into())
        }
        Err(error @ OpenError::Client(_)) => Err(error).with_context(|| format!("sources.{source}")),
    }
}

/// The first Ctrl-C ends after the page in work, the second at once.
fn stop_on_interrupt(shutdown: Shutdown) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            shutdown.trigger();
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        }
    });
}

impl Report for Filled {
    fn text(&self) -> String {
        let Self { pages, items, stored, seconds, .. } = self;
        let verb = if self.dry_run { "would be stored" } else { "stored" };
        let whole = if self.complete { "the whole window" } else { "NOT the whole window" };
        format!("{whole}; pages: {pages}, items: {items}, {verb}: {stored}, in {seconds:.1} s\n")
    }

    fn is_trouble(&self) -> bool {
        !self.complete
    }
}
