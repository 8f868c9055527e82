//! Shows how far the demo is: a bar on a terminal, else a line now and then.

use std::{
    io::{IsTerminal as _, stderr},
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{ledger::views::Backlog, sandbox::Progress};

/// Without a terminal, a line comes this often.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Where progress is shown.
#[derive(Debug)]
pub struct Show {
    bar: Option<ProgressBar>,
    orders: u64,
    began: Instant,
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    at: Instant,
    accepted: u64,
    effects: u64,
    rates: (f64, f64),
    line: Option<Instant>,
}

impl Show {
    /// Shows the way of so many orders.
    pub fn new(orders: u64) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{elapsed:>4} {wide_bar} {pos}/{len} orders\n     {msg}");
            ProgressBar::new(orders).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        let now = Instant::now();
        Self {
            bar,
            orders,
            began: now,
            last: Mutex::new(Last { at: now, accepted: 0, effects: 0, rates: (0.0, 0.0), line: None }),
        }
    }

    /// Says something that stays.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{:>5.1}s  {text}", self.began.elapsed().as_secs_f64()),
        }
    }

    /// Shows where things stand.
    pub fn tick(&self, progress: Progress, backlog: Backlog) {
        let Ok(mut last) = self.last.lock() else {
            return;
        };
        last.measure(progress);
        let (webhooks_per_s, effects_per_s) = last.rates;
        let message = format!(
            "{webhooks_per_s:.0} events/s, {effects_per_s:.0} effects/s; waiting: {} to send, {} in the inbox, {} in the outbox",
            progress.unsent, backlog.inbox, backlog.outbox
        );
        if let Some(bar) = &self.bar {
            bar.set_position(progress.complete);
            bar.set_message(message);
        } else if last.line.is_none_or(|at| at.elapsed() >= LINE_EVERY) {
            last.line = Some(Instant::now());
            self.note(&format!("{}/{} orders, {message}", progress.complete, self.orders));
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Last {
    /// Rates over the last second or more.
    fn measure(&mut self, progress: Progress) {
        let span_s = self.at.elapsed().as_secs_f64();
        if span_s < 1.0 {
            return;
        }
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / span_s;
        self.rates = (rate(progress.accepted, self.accepted), rate(progress.effects, self.effects));
        self.at = Instant::now();
        self.accepted = progress.accepted;
        self.effects = progress.effects;
    }
}
