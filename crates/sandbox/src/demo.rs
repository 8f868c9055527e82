//! The demo: the four real daemons against the sandbox, each killed once on the way, and the ledger at the end.
//!
//! Everything it starts it stops, by process id, whatever happened.

pub mod background;
pub mod daemon;
pub mod drive;
pub mod progress;
pub mod stage;
pub mod wiring;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context as _;
use secrecy::SecretString;

use crate::{
    demo::{drive::Drive, progress::Show, stage::Stage},
    ledger::{Ledger, table},
    stop,
};

/// What the demo is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the five binaries are.
    pub bin_dir: PathBuf,
    /// Ordem's database.
    pub database_url: SecretString,
    /// Configuration directory of the daemons.
    pub config: Option<PathBuf>,
    /// Orders to live through.
    pub orders: u64,
    /// Decides every life, loss, duplicate and failure.
    pub seed: u64,
    /// Webhooks a second outside bursts; 0 is as fast as answers come.
    pub rate: f64,
    /// When everything must be right.
    pub deadline: Duration,
    /// Whether no daemon is killed.
    pub gentle: bool,
    /// Whether everything stays up at the end, in the background.
    pub keep: bool,
    /// Where to write the process ids of what stays up.
    pub pids: Option<PathBuf>,
}

/// Runs the demo. Returns whether everything was as it should be.
///
/// # Errors
/// When a part does not start, a daemon ends by itself, or the demo is interrupted.
pub async fn run(options: Options) -> anyhow::Result<bool> {
    let show = Show::new(options.orders);
    let mut stage = Stage::prepare(&options).await?;
    let ran = tokio::select! {
        ran = play(&options, &mut stage, &show) => ran,
        asked = stop::asked() => asked
            .map_err(anyhow::Error::from)
            .and_then(|()| Err(anyhow::anyhow!("interrupted"))),
    };
    show.clear();
    let ran = match ran {
        Ok(ledger) => finish(&options, &stage, &ledger).await.map(|()| ledger.is_clean()),
        Err(error) => Err(error),
    };
    let keep_logs = options.keep || !matches!(ran, Ok(true));
    stage.clear(keep_logs).await;
    ran
}

async fn play(options: &Options, stage: &mut Stage, show: &Show) -> anyhow::Result<Ledger> {
    stage.start(show).await?;
    Drive::new(options, stage, show).run().await
}

async fn finish(options: &Options, stage: &Stage, ledger: &Ledger) -> anyhow::Result<()> {
    let mut out = io::stdout();
    out.write_all(table::render(ledger).as_bytes())?;
    if options.keep {
        out.write_all(stage.what_to_try().as_bytes())?;
        if let Some(pids) = &options.pids {
            background::write_pids(pids, stage.pids()).context("cannot write the process ids")?;
        }
        background::detach(ledger.is_clean(), &stage.log("sandbox"))?;
        stop::asked().await?;
    }
    Ok(())
}
