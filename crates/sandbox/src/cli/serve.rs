//! `sandbox serve`.

use std::{net::SocketAddr, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::Args;
use reqwest::Url;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    sandbox::{Sandbox, Settings},
    sender::{self, receiver_url},
    stop,
};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Address of the store's API and the fulfilment system.
    #[arg(long, env = "SANDBOX_LISTEN", default_value = "127.0.0.1:7070")]
    listen: SocketAddr,
    /// Where webhooks go.
    #[arg(
        long,
        env = "SANDBOX_RECEIVER",
        default_value = "http://127.0.0.1:8080/webhooks/loja",
        value_parser = receiver_url
    )]
    receiver: Url,
    /// Orders to begin with; more by POST /run {"orders": N}.
    #[arg(long, env = "SANDBOX_ORDERS", default_value_t = 0)]
    orders: u64,
    /// Decides every life, loss, duplicate and failure.
    #[arg(long, env = "SANDBOX_SEED", default_value_t = 7)]
    seed: u64,
    /// What all ids begin with: another one for each run on one database.
    #[arg(long, env = "SANDBOX_PREFIX", default_value = "")]
    prefix: String,
    /// Webhooks in flight at once.
    #[arg(long, env = "SANDBOX_CONCURRENCY", default_value_t = 64)]
    concurrency: usize,
    /// Webhooks a second outside bursts; 0 is as fast as answers come.
    #[arg(long, env = "SANDBOX_RATE", default_value_t = 0.0)]
    rate: f64,
    /// The share of webhooks sent twice.
    #[arg(long, env = "SANDBOX_DUPLICATES", default_value_t = 0.10)]
    duplicates: f64,
    /// The share of webhooks never sent.
    #[arg(long, env = "SANDBOX_LOST", default_value_t = 0.02)]
    lost: f64,
    /// Seconds until a hanging answer of the fulfilment system comes.
    #[arg(long, env = "SANDBOX_HANG_S", default_value_t = 15)]
    hang_s: u64,
    /// Let the fulfilment system never fail.
    #[arg(long, env = "SANDBOX_FAULTLESS")]
    faultless: bool,
    /// Signs webhooks.
    #[arg(long, env = "LOJA_WEBHOOK_SECRET", hide_env_values = true)]
    webhook_secret: SecretString,
    /// Opens the store's API.
    #[arg(long, env = "LOJA_API_TOKEN", hide_env_values = true)]
    api_token: SecretString,
    /// Signs calls to the fulfilment system.
    #[arg(long, env = "FULFILLMENT_SECRET", hide_env_values = true)]
    fulfillment_secret: SecretString,
    /// Ordem's database, so that GET /ledger compares.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<SecretString>,
}

impl Arguments {
    fn settings(self) -> Settings {
        Settings {
            seed: self.seed,
            prefix: self.prefix,
            lost: self.lost,
            sender: sender::Settings {
                receiver: self.receiver,
                secret: self.webhook_secret,
                concurrency: self.concurrency,
                rate: self.rate,
                duplicates: self.duplicates,
                timeout: sender::TIMEOUT,
            },
            api_token: self.api_token,
            fulfillment_secret: self.fulfillment_secret,
            database_url: self.database_url,
            hang: (!self.faultless).then(|| Duration::from_secs(self.hang_s)),
        }
    }
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let (listen, orders) = (arguments.listen, arguments.orders);
    let sandbox = Sandbox::new(arguments.settings())?;
    let listener = TcpListener::bind(listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
    if orders > 0 && !sandbox.begin(orders) {
        anyhow::bail!("--orders {orders} is out of bounds");
    }
    tracing::info!(%listen, orders, "sandbox is up");
    let stopping = CancellationToken::new();
    let serving = sandbox.serve(listener, stopping.clone());
    let watching = async {
        let asked = stop::asked().await;
        stopping.cancel();
        asked
    };
    let (served, asked) = tokio::join!(serving, stopping.run_until_cancelled(watching));
    asked.unwrap_or(Ok(())).context("cannot listen to signals")?;
    served?;
    Ok(ExitCode::SUCCESS)
}
