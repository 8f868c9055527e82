//! Connections: how they are dialled, which settings they get, and the pool of them.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use deadpool_postgres::{Connect, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_postgres::{Client, Config, NoTls, config::SslMode};

use crate::{Error, Result, tls};

/// How a daemon connects. Its `Debug` shows no address: that holds a password.
#[derive(Clone)]
pub struct Options {
    /// `postgres://…` or the `key=value` form.
    pub url: String,
    /// Shown in `pg_stat_activity`.
    pub application_name: String,
    /// Most connections at a time.
    pub connections_max: usize,
    /// Longest wait for a free connection, and for a new one to open.
    pub acquire_timeout: Duration,
    /// The server ends a statement that runs longer.
    pub statement_timeout: Duration,
    /// How the planner is held.
    pub plans: PlanShape,
}

/// Whether the planner may look at statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanShape {
    /// Ordinary planning.
    Free,
    /// Index look-ups only, one generic plan: queue tables are empty when they are analysed, and a plan made
    /// for an empty table reads the whole of a full one.
    Pinned,
}

const PINNED: &str = "set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; \
                      set enable_mergejoin = off; set enable_material = off; \
                      set plan_cache_mode = force_generic_plan; set jit = off;";

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("application_name", &self.application_name).finish_non_exhaustive()
    }
}

impl Options {
    /// Whether the address can be understood at all; nothing is dialled.
    ///
    /// # Errors
    /// [`Error::Settings`] with what is wrong, never with the address itself.
    pub fn validate(&self) -> Result<()> {
        self.config().map(drop)
    }

    /// How to dial, for the pool and the listener alike.
    pub(crate) fn config(&self) -> Result<Config> {
        let mut config: Config = self.url.parse().map_err(|error: tokio_postgres::Error| {
            let detail =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::Settings(format!(
                "DATABASE_URL (database.url) is no PostgreSQL address: {detail}; \
                 expected postgres://user:password@host:5432/database"
            ))
        })?;
        config.application_name(&self.application_name);
        config.connect_timeout(self.acquire_timeout);
        config.keepalives_idle(Duration::from_secs(30));
        config.tcp_user_timeout(Duration::from_secs(30));
        // What an address means that says nothing of TLS: then there is none.
        if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Disable);
        }
        Ok(config)
    }

    fn session(&self) -> String {
        let plans = match self.plans {
            PlanShape::Free => "",
            PlanShape::Pinned => PINNED,
        };
        let statement_ms = self.statement_timeout.as_millis();
        format!(
            "set statement_timeout = {statement_ms}; set idle_in_transaction_session_timeout = {statement_ms}; \
             set timezone = 'UTC'; {plans}"
        )
    }
}

/// One connection outside any pool, its input and output driven on the current runtime.
///
/// # Errors
/// When the address is wrong, the server cannot be reached or refuses.
pub async fn connect(options: &Options) -> Result<Client> {
    let config = options.config()?;
    let (client, _driver) = dial(config, Handle::current()).await?;
    client.batch_execute(&options.session()).await?;
    Ok(client)
}

/// A pool whose connections are driven on `runtime`, whoever asks for one: a connection driven by the runtime
/// of an HTTP worker would die with that worker during a graceful stop.
///
/// # Errors
/// When the address is wrong. Nothing is dialled yet.
pub fn pool(options: &Options, runtime: Handle) -> Result<Pool> {
    let config = options.config()?;
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_connect(config, Dial { runtime }, manager_config);
    let session = options.session();
    Pool::builder(manager)
        .max_size(options.connections_max)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(options.acquire_timeout))
        .create_timeout(Some(options.acquire_timeout))
        .recycle_timeout(Some(options.acquire_timeout))
        .post_create(Hook::async_fn(move |client, _| {
            let session = session.clone();
            Box::pin(async move { client.batch_execute(&session).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(|error| Error::Settings(format!("connection pool: {error}")))
}

struct Dial {
    runtime: Handle,
}

type Dialled = std::result::Result<(Client, JoinHandle<()>), tokio_postgres::Error>;

impl Connect for Dial {
    fn connect(&self, config: &Config) -> Pin<Box<dyn Future<Output = Dialled> + Send + '_>> {
        let config = config.clone();
        let runtime = self.runtime.clone();
        Box::pin(async move {
            let driven_on = runtime.clone();
            // Sockets belong to the runtime that opened them, so the dialling moves there as well.
            match runtime.spawn(dial_raw(config, driven_on)).await {
                Ok(dialled) => dialled,
                Err(_) => Err(tokio_postgres::Error::__private_api_timeout()),
            }
        })
    }
}

async fn dial(config: Config, runtime: Handle) -> Result<(Client, JoinHandle<()>)> {
    if config.get_ssl_mode() == SslMode::Require {
        tls::connector()?;
    }
    Ok(dial_raw(config, runtime).await?)
}

async fn dial_raw(config: Config, runtime: Handle) -> Dialled {
    if config.get_ssl_mode() == SslMode::Require
        && let Ok(connector) = tls::connector()
    {
        let (client, connection) = config.connect(connector).await?;
        let driver = runtime.spawn(async move { log_end(connection.await) });
        return Ok((client, driver));
    }
    let (client, connection) = config.connect(NoTls).await?;
    let driver = runtime.spawn(async move { log_end(connection.await) });
    Ok((client, driver))
}

fn log_end(ended: std::result::Result<(), tokio_postgres::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "database connection ended");
    }
}
