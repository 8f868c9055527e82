//! What the demo sets up: migrated database, sandbox, daemons; and how it is cleared away.

use std::{collections::BTreeMap, net::Ipv4Addr, path::PathBuf, sync::Arc};

use anyhow::{Context as _, bail};
use reqwest::Client;
use secrecy::ExposeSecret;
use tempfile::TempDir;
use tokio::{net::TcpListener, process::Command, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    demo::{
        Options, background,
        daemon::Daemon,
        progress::Show,
        wiring::{self, Addresses, Secrets},
    },
    ledger::views,
    sandbox::Sandbox,
};

/// Everything that is up during a demo.
pub struct Stage {
    /// The daemons, as in [`wiring::DAEMONS`].
    pub daemons: Vec<Daemon>,
    /// The world they serve.
    pub sandbox: Arc<Sandbox>,
    /// A connection to read the views with.
    pub database: tokio_postgres::Client,
    /// Asks daemons whether they are ready.
    pub http: Client,
    serving: JoinHandle<anyhow::Result<()>>,
    stop: CancellationToken,
    addresses: Addresses,
    environment: BTreeMap<String, String>,
    bin_dir: PathBuf,
    logs: TempDir,
}

impl Stage {
    /// Migrates the database and serves the sandbox; the daemons do not run yet.
    ///
    /// # Errors
    /// When the database does not answer, the migration fails or no port is free.
    pub async fn prepare(options: &Options) -> anyhow::Result<Self> {
        migrate(options).await?;
        let database = views::connect(options.database_url.expose_secret()).await?;
        let prefix = free_prefix(&database).await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addresses = Addresses::find(listener.local_addr()?)?;
        let secrets = Secrets::make_up();
        let sandbox = Sandbox::new(wiring::settings(options, prefix, &addresses, &secrets)?)?;
        let stop = CancellationToken::new();
        let logs = tempfile::Builder::new().prefix("ordem-demo-").tempdir()?;
        let environment = wiring::environment(options, &addresses, &secrets)?;
        Ok(Self {
            daemons: wiring::daemons(&options.bin_dir, &addresses, &environment, logs.path()),
            serving: tokio::spawn(sandbox.clone().serve(listener, stop.clone())),
            sandbox,
            database,
            http: Client::builder().no_proxy().build()?,
            stop,
            addresses,
            environment,
            bin_dir: options.bin_dir.clone(),
            logs,
        })
    }

    /// Starts the daemons.
    ///
    /// # Errors
    /// When one does not become ready.
    pub async fn start(&mut self, show: &Show) -> anyhow::Result<()> {
        show.note(&format!(
            "store and fulfilment on http://{}, receiver on http://{}, logs in {}",
            self.addresses.sandbox,
            self.addresses.receiver,
            self.logs.path().display()
        ));
        for daemon in &mut self.daemons {
            daemon.start(&self.http).await?;
        }
        show.note("receiver, applier, publisher and reconciler are ready");
        Ok(())
    }

    /// Checks that nothing has ended by itself.
    ///
    /// # Errors
    /// When something has.
    pub fn check(&mut self) -> anyhow::Result<()> {
        if self.serving.is_finished() {
            bail!("the sandbox ended by itself");
        }
        self.daemons.iter_mut().try_for_each(Daemon::check)
    }

    /// Stops everything; complaints go to standard error.
    pub async fn clear(mut self, keep_logs: bool) {
        let stopping = self.daemons.iter_mut().map(Daemon::stop);
        for complaint in futures_util::future::join_all(stopping).await.into_iter().flatten() {
            eprintln!("{complaint}");
        }
        self.stop.cancel();
        match self.serving.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("sandbox: {error:#}"),
            Err(error) => eprintln!("sandbox: {error}"),
        }
        if keep_logs {
            eprintln!("logs are in {}", self.logs.keep().display());
        }
    }

    /// The process ids of the daemons.
    pub fn pids(&self) -> impl Iterator<Item = (u32, &'static str)> {
        self.daemons.iter().filter_map(|daemon| Some((daemon.pid()?, daemon.name)))
    }

    /// Where a part writes its log.
    pub fn log(&self, name: &str) -> PathBuf {
        self.logs.path().join(format!("{name}.log"))
    }

    /// What can be tried while everything is up.
    pub fn what_to_try(&self) -> String {
        let database_url = &self.environment["DATABASE_URL"];
        let ordem = self.bin_dir.join("ordem");
        let ordem = ordem.display();
        let sandbox = self.addresses.sandbox;
        let last = self.sandbox.progress().orders.saturating_sub(1);
        let order = self.sandbox.order_id(last.min(42));
        let pid = background::own_pid();
        let mut text = format!(
            "\nEverything is still up. `kill {pid}` stops it. To try:\n\
             \n  export DATABASE_URL='{database_url}'\
             \n  {ordem} status\
             \n  {ordem} explain loja order {order}\
             \n  psql \"$DATABASE_URL\" -c 'select * from ordem.orders limit 5'\
             \n  psql \"$DATABASE_URL\" -c 'select outcome, count(*) from ordem.events group by 1'\
             \n  psql \"$DATABASE_URL\" -c 'select effect, state, count(*) from ordem.effects group by 1, 2'\
             \n  curl http://{sandbox}/ledger\
             \n  curl -d '{{\"orders\": 100}}' -H 'content-type: application/json' http://{sandbox}/run\n"
        );
        for daemon in &self.daemons {
            text += &format!("  curl http://{}/metrics   # {}\n", daemon.admin(), daemon.name);
        }
        text
    }
}

async fn migrate(options: &Options) -> anyhow::Result<()> {
    let ordem = options.bin_dir.join("ordem");
    let mut command = Command::new(&ordem);
    command.arg("migrate").env("DATABASE_URL", options.database_url.expose_secret());
    if let Some(config) = &options.config {
        command.env("ORDEM_CONFIG", config);
    }
    let output = command.kill_on_drop(true).output().await;
    let output = output.with_context(|| format!("cannot start {}", ordem.display()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("ordem migrate failed: {}\n{stderr}", output.status);
    }
    Ok(())
}

/// None on a fresh database; on one that has seen a run, one that keeps this run apart.
async fn free_prefix(database: &tokio_postgres::Client) -> anyhow::Result<String> {
    let row = database.query_one(include_str!("seen.sql"), &[&views::SOURCE]).await?;
    Ok(if row.try_get("seen")? { format!("r{:x}_", clock::now().as_second()) } else { String::new() })
}
