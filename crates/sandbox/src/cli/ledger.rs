//! `sandbox ledger`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use crate::{
    ledger::{self, Ledger, table, views},
    sandbox::Evidence,
};

const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Ordem's database.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: SecretString,
    /// The served sandbox that knows the truth.
    #[arg(long, env = "SANDBOX_URL", default_value = "http://127.0.0.1:7070")]
    sandbox: Url,
    /// Try again for this many seconds while anything differs.
    #[arg(long, default_value_t = 0)]
    wait_s: u64,
    /// Print the ledger as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let client = views::connect(arguments.database_url.expose_secret()).await?;
    let until = Instant::now() + Duration::from_secs(arguments.wait_s);
    let ledger = loop {
        let ledger = compare(&client, &arguments.sandbox).await?;
        if ledger.is_clean() || Instant::now() >= until {
            break ledger;
        }
        tokio::time::sleep(PAUSE).await;
    };
    let text =
        if arguments.json { serde_json::to_string_pretty(&ledger)? + "\n" } else { table::render(&ledger) };
    io::stdout().write_all(text.as_bytes())?;
    Ok(if ledger.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn compare(client: &tokio_postgres::Client, sandbox: &Url) -> anyhow::Result<Ledger> {
    let url = sandbox.join("/truth")?;
    let answer = reqwest::get(url).await.and_then(|answer| answer.error_for_status());
    let evidence: Evidence = answer
        .context("the sandbox does not answer")?
        .json()
        .await
        .context("the sandbox's truth is unreadable")?;
    let views = views::Views::read(client, &evidence.truth.order_prefix).await?;
    Ok(ledger::compare(&evidence, &views))
}
