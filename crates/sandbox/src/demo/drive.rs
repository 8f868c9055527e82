//! Drives a demo from the first order to the ledger.

use std::{collections::VecDeque, time::Duration};

use anyhow::bail;
use tokio::time::{Instant, sleep};

use crate::{
    demo::{Options, progress::Show, stage::Stage, wiring::DAEMONS},
    ledger::{self, Ledger, views},
};

const TICK: Duration = Duration::from_millis(250);

/// How long a killed daemon stays away.
const AWAY: Duration = Duration::from_millis(400);

/// Percent of the orders placed when each daemon is killed, as in [`DAEMONS`].
const STRIKES_PERCENT: [u64; 4] = [20, 40, 60, 80];

/// The way of a demo.
pub struct Drive<'a> {
    stage: &'a mut Stage,
    show: &'a Show,
    orders: u64,
    until: Instant,
    deadline: Duration,
    /// Which daemon is killed when so many orders are placed.
    strikes: VecDeque<(u64, usize)>,
}

impl<'a> Drive<'a> {
    /// A demo on a stage that is set.
    pub fn new(options: &Options, stage: &'a mut Stage, show: &'a Show) -> Self {
        let planned = STRIKES_PERCENT.iter().enumerate();
        let strikes = planned.map(|(daemon, percent)| (options.orders * percent / 100, daemon));
        Self {
            stage,
            show,
            orders: options.orders,
            until: Instant::now() + options.deadline,
            deadline: options.deadline,
            strikes: if options.gentle { VecDeque::new() } else { strikes.collect() },
        }
    }

    /// Runs until the ledger is clean or the deadline is over; returns the last ledger.
    ///
    /// # Errors
    /// When a daemon ends by itself or the database does not answer.
    pub async fn run(mut self) -> anyhow::Result<Ledger> {
        if !self.stage.sandbox.begin(self.orders) {
            bail!("--orders {} is out of bounds", self.orders);
        }
        loop {
            sleep(TICK).await;
            self.stage.check()?;
            self.strike().await?;
            let settled = self.look().await?;
            let late = Instant::now() >= self.until;
            if late {
                self.show.note(&format!("not done after {:?}", self.deadline));
            }
            if settled || late {
                let ledger = self.compare().await?;
                if ledger.is_clean() || late {
                    return Ok(ledger);
                }
            }
        }
    }

    /// Kills and restarts the daemon whose turn has come.
    async fn strike(&mut self) -> anyhow::Result<()> {
        let placed = self.stage.sandbox.progress().orders;
        let Some((_, daemon)) = self.strikes.front().copied().filter(|(at, _)| placed >= *at) else {
            return Ok(());
        };
        self.strikes.pop_front();
        let name = DAEMONS[daemon];
        let daemon = &mut self.stage.daemons[daemon];
        daemon.kill().await?;
        self.show.note(&format!("killed {name} (SIGKILL) at {placed} of {} orders", self.orders));
        sleep(AWAY).await;
        daemon.start(&self.stage.http).await?;
        self.show.note(&format!("restarted {name}"));
        Ok(())
    }

    /// Shows where things stand; returns whether nothing is on its way any more.
    async fn look(&self) -> anyhow::Result<bool> {
        let progress = self.stage.sandbox.progress();
        let backlog = views::backlog(&self.stage.database).await?;
        self.show.tick(progress, backlog);
        Ok(self.strikes.is_empty()
            && progress.orders == self.orders
            && progress.unsent == 0
            && backlog == views::Backlog::default())
    }

    async fn compare(&self) -> anyhow::Result<Ledger> {
        let evidence = self.stage.sandbox.evidence();
        let rows = views::Views::read(&self.stage.database, &evidence.truth.order_prefix).await?;
        Ok(ledger::compare(&evidence, &rows))
    }
}
