//! How far it is, on standard error: a counter on a terminal, a line now and then elsewhere.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::Instant;

/// Plain lines are at least this far apart.
const LINE_EVERY: Duration = Duration::from_secs(2);
const COUNTER: &str = "{elapsed_precise} {prefix}: {pos}";

/// What is shown between batches.
pub(super) struct Progress {
    bar: ProgressBar,
    word: &'static str,
    line: Instant,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn start(word: &'static str) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_prefix(word);
        if let Ok(style) = ProgressStyle::with_template(COUNTER) {
            bar.set_style(style);
        }
        Self { bar, word, line: Instant::now(), is_terminal }
    }

    /// So many by now.
    pub(super) fn show(&mut self, count: u64) {
        self.bar.set_position(count);
        if !self.is_terminal && self.line.elapsed() >= LINE_EVERY {
            self.line = Instant::now();
            eprintln!("{}: {count}", self.word);
        }
    }

    /// Makes room for what is printed next.
    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}
