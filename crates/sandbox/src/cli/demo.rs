//! `sandbox demo`.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use secrecy::SecretString;

use crate::demo::{self, Options, background};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Where the binaries ordem, receiver, applier, publisher and reconciler are.
    #[arg(long)]
    bin_dir: PathBuf,
    /// Ordem's database.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: SecretString,
    /// Configuration directory of the daemons [default: ./config when it exists].
    #[arg(long)]
    config: Option<PathBuf>,
    /// Orders to live through.
    #[arg(long, default_value_t = 10_000)]
    orders: u64,
    /// Decides every life, loss, duplicate and failure.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Webhooks a second outside bursts; 0 is as fast as answers come.
    #[arg(long, default_value_t = 1_500.0)]
    rate: f64,
    /// Seconds until everything must be right.
    #[arg(long, default_value_t = 150)]
    deadline_s: u64,
    /// Do not kill the daemons on the way.
    #[arg(long)]
    gentle: bool,
    /// Leave everything up at the end, in the background.
    #[arg(long)]
    keep: bool,
    /// Where to write the process ids of what stays up, one a line.
    #[arg(long, env = "ORDEM_DEMO_PIDS")]
    pids: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    if arguments.keep && !background::is_here() {
        return background::hand_over().await;
    }
    let config = arguments.config.or_else(|| {
        let here = PathBuf::from("config");
        here.is_dir().then_some(here)
    });
    let clean = demo::run(Options {
        bin_dir: arguments.bin_dir,
        database_url: arguments.database_url,
        config,
        orders: arguments.orders,
        seed: arguments.seed,
        rate: arguments.rate,
        deadline: Duration::from_secs(arguments.deadline_s),
        gentle: arguments.gentle,
        keep: arguments.keep,
        pids: arguments.pids,
    })
    .await?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
