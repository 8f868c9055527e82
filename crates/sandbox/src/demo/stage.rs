//! What the demo sets up: migrated database, sandbox, daemons; and how it is cleared away.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpListener as StdListener},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;
use tokio::{net::TcpListener, process::Command, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    demo::{Options, daemon::Daemon, progress::Show},
    ledger::views,
    sandbox::{Sandbox, Settings},
    sender,
};

/// The daemons, in the order in which they are started.
pub const DAEMONS: [&str; 4] = ["receiver", "applier", "publisher", "reconciler"];

/// Longer than a publisher waits, so that some answers come too late.
const HANG: Duration = Duration::from_secs(15);

/// Everything that is up during a demo.
pub struct Stage {
    /// The daemons, as in [`DAEMONS`].
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

#[derive(Debug)]
struct Addresses {
    receiver: SocketAddr,
    admin: [SocketAddr; 4],
    sandbox: SocketAddr,
}

/// Made up for one demo.
struct Secrets {
    webhook: String,
    api_token: String,
    fulfillment: String,
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
        let sandbox = Sandbox::new(settings(options, prefix, &addresses, &secrets)?)?;
        let stop = CancellationToken::new();
        let logs = tempfile::Builder::new().prefix("ordem-demo-").tempdir()?;
        let environment = environment(options, &addresses, &secrets)?;
        Ok(Self {
            daemons: daemons(&options.bin_dir, &addresses, &environment, logs.path()),
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

    /// What can be tried while everything is up.
    pub fn what_to_try(&self) -> String {
        let database_url = &self.environment["DATABASE_URL"];
        let ordem = self.bin_dir.join("ordem");
        let ordem = ordem.display();
        let sandbox = self.addresses.sandbox;
        let last = self.sandbox.progress().orders.saturating_sub(1);
        let order = self.sandbox.order_id(last.min(42));
        let mut text = format!(
            "\nEverything is still up; Ctrl-C stops it. To try, in another shell:\n\
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

impl Addresses {
    /// Finds free ports. All are held at once, so that they differ, and let go at the end.
    fn find(sandbox: SocketAddr) -> std::io::Result<Self> {
        let held: Vec<StdListener> =
            (0..5).map(|_| StdListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<Result<_, _>>()?;
        Ok(Self {
            receiver: held[0].local_addr()?,
            admin: [
                held[1].local_addr()?,
                held[2].local_addr()?,
                held[3].local_addr()?,
                held[4].local_addr()?,
            ],
            sandbox,
        })
    }
}

impl Secrets {
    fn make_up() -> Self {
        let fulfillment = STANDARD.encode(rand::random::<[u8; 24]>());
        Self {
            webhook: hex::encode(rand::random::<[u8; 24]>()),
            api_token: hex::encode(rand::random::<[u8; 24]>()),
            fulfillment: format!("whsec_{fulfillment}"),
        }
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
    Ok(if row.try_get("seen")? { format!("r{:x}_", Timestamp::now().as_second()) } else { String::new() })
}

fn settings(
    options: &Options,
    prefix: String,
    addresses: &Addresses,
    secrets: &Secrets,
) -> anyhow::Result<Settings> {
    Ok(Settings {
        seed: options.seed,
        prefix,
        lost: 0.02,
        sender: sender::Settings {
            receiver: Url::parse(&format!("http://{}/webhooks/loja", addresses.receiver))?,
            secret: SecretString::from(&*secrets.webhook),
            concurrency: 64,
            rate: options.rate,
            duplicates: 0.10,
            timeout: sender::TIMEOUT,
        },
        api_token: SecretString::from(&*secrets.api_token),
        fulfillment_secret: SecretString::from(&*secrets.fulfillment),
        hang: Some(HANG),
    })
}

fn environment(
    options: &Options,
    addresses: &Addresses,
    secrets: &Secrets,
) -> anyhow::Result<BTreeMap<String, String>> {
    let sandbox = addresses.sandbox;
    let mut environment: BTreeMap<String, String> = [
        ("DATABASE_URL", options.database_url.expose_secret()),
        ("LOJA_WEBHOOK_SECRET", &secrets.webhook),
        ("LOJA_API_URL", &format!("http://{sandbox}")),
        ("LOJA_API_TOKEN", &secrets.api_token),
        ("FULFILLMENT_URL", &format!("http://{sandbox}/fulfillment")),
        ("FULFILLMENT_SECRET", &secrets.fulfillment),
        ("ORDEM__RECEIVER__LISTEN", &addresses.receiver.to_string()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8"),
        ("ORDEM__PUBLISHER__BACKOFF_BASE", "100ms"),
        ("ORDEM__PUBLISHER__BACKOFF_CAP", "2s"),
        ("ORDEM__RECONCILER__ALLOW_ADDRESSES", "127.0.0.0/8"),
        ("ORDEM__RECONCILER__EVERY", "1s"),
        ("ORDEM__RECONCILER__LAG", "1s"),
        ("ORDEM__RECONCILER__OVERLAP", "10s"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    for (name, admin) in DAEMONS.iter().zip(addresses.admin) {
        let key = format!("ORDEM__{}__ADMIN", name.to_uppercase());
        environment.insert(key, admin.to_string());
    }
    if let Some(config) = &options.config {
        let config = config.canonicalize();
        let config = config.context("the configuration directory cannot be read")?;
        environment.insert("ORDEM_CONFIG".to_owned(), config.display().to_string());
    }
    Ok(environment)
}

fn daemons(
    bin_dir: &Path,
    addresses: &Addresses,
    environment: &BTreeMap<String, String>,
    logs: &Path,
) -> Vec<Daemon> {
    let environment: Vec<_> = environment.clone().into_iter().collect();
    let one = |(name, admin): (&'static str, SocketAddr)| {
        let log = logs.join(format!("{name}.log"));
        Daemon::new(name, bin_dir.join(name), environment.clone(), admin, log)
    };
    DAEMONS.into_iter().zip(addresses.admin).map(one).collect()
}
