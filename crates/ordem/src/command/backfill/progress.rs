//! How far a backfill is: a bar on a terminal, plain lines elsewhere. All of it goes to standard error.

use std::{
    io::{self, IsTerminal as _, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;
use reconciler::Pulled;
use tokio::time::Instant;
use tracing::Level;
use tracing_subscriber::{filter::Targets, fmt, prelude::*};

use crate::words::instant;

/// Plain lines are at least this far apart.
const LINE_EVERY: Duration = Duration::from_secs(2);
const BAR: &str = "{elapsed_precise} {bar:30} {msg}";

/// What is shown while pages come.
pub(super) struct Progress {
    from: Timestamp,
    to: Timestamp,
    bar: ProgressBar,
    /// When a plain line was last written; a bar shows everything.
    line: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn start(from: Timestamp, to: Timestamp) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(seconds(from, to)), target);
        if let Ok(style) = ProgressStyle::with_template(BAR) {
            bar.set_style(style);
        }
        Self { from, to, bar, line: None, is_terminal }
    }

    /// A line of its own.
    pub(super) fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    /// A page was stored.
    pub(super) fn page(&mut self, pulled: &Pulled) {
        if let Some(newest) = pulled.newest {
            // An API whose list is not by time makes the bar jump: it shows the newest change read.
            self.bar.set_position(seconds(self.from, newest.min(self.to)));
        }
        let told = told(pulled);
        if self.is_terminal {
            self.bar.set_message(told);
        } else if self.line.is_none_or(|line| line.elapsed() >= LINE_EVERY) {
            self.line = Some(Instant::now());
            eprintln!("{told}");
        }
    }

    /// The last word.
    pub(super) fn end(&self, pulled: &Pulled) {
        self.bar.finish_and_clear();
        eprintln!("{}", told(pulled));
    }

    /// Shows what the reader says of waits and of a database that is away, without tearing the bar.
    pub(super) fn take_over_logs(&self) {
        let bar = self.bar.clone();
        let lines = fmt::layer()
            .without_time()
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || AboveBar(bar.clone()));
        let filter = Targets::new().with_target("reconciler", Level::INFO);
        // One that was set before stays: nothing is lost but these lines.
        let _set_before = tracing_subscriber::registry().with(filter).with(lines).try_init();
    }
}

fn told(pulled: &Pulled) -> String {
    let Pulled { pages, items, stored, newest, .. } = pulled;
    let until = newest.map_or_else(String::new, |newest| format!(", up to {}", instant(newest)));
    format!("pages: {pages}, items: {items}, stored: {stored}{until}")
}

fn seconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_secs()).unwrap_or(0)
}

/// Writes whole lines above the bar.
struct AboveBar(ProgressBar);

impl Write for AboveBar {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write_all(line)).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
