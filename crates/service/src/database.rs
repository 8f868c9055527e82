//! The database of a daemon: its options, the wait for it, and the probe behind `/readyz`.

use std::time::Duration;

use anyhow::{Context as _, bail};
use db::{Options, PlanShape, Pool};
use secrecy::ExposeSecret;

use crate::{Health, Shutdown, metrics, settings::Settings};

/// Longest a probe of the database may take before it counts as away.
pub const ROUND_TRIP_MAX: Duration = Duration::from_secs(3);
const PROBE_EVERY: Duration = Duration::from_secs(2);
const RECONNECT_MAX: Duration = Duration::from_secs(10);

/// The connection options of a process with this name.
///
/// # Errors
/// When the address is not set.
pub fn database_options(settings: &Settings, name: &str, plans: PlanShape) -> anyhow::Result<Options> {
    let url = settings
        .database
        .url
        .resolve()
        .map_err(|reason| anyhow::anyhow!("database.url: {reason}"))?
        .with_context(|| {
            format!(
                "database.url: {} is not set: set it to postgres://user:password@host/database",
                settings.database.url
            )
        })?;
    Ok(Options {
        url: url.expose_secret().to_owned(),
        application_name: format!("ordem {name}"),
        connections_max: settings.database.connections_max,
        acquire_timeout: settings.database.acquire_timeout.get(),
        statement_timeout: settings.database.statement_timeout.get(),
        plans,
    })
}

/// Waits until the database answers, then demands the schema this binary was built for.
///
/// # Errors
/// When the schema is another, or the address can never work. `Ok(false)`: the stop came first.
pub(crate) async fn wait_for(pool: &Pool, health: &Health, shutdown: &Shutdown) -> anyhow::Result<bool> {
    let mut pause = Duration::from_millis(200);
    loop {
        let attempt = async {
            let client = pool.get().await.map_err(db::Error::from)?;
            db::schema_state(&client).await
        };
        let Some(answer) = shutdown.unless_triggered(attempt).await else { return Ok(false) };
        match answer {
            Ok(state) => {
                state.require_current()?;
                health.set("database", Ok(()));
                return Ok(true);
            }
            Err(error) if error.is_unavailable() => {
                tracing::warn!(%error, retry_in_ms = pause.as_millis(), "database away, waiting for it");
                health.set("database", Err(error.to_string()));
            }
            Err(error) => bail!("database: {error}"),
        }
        shutdown.sleep(pause).await;
        pause = (pause * 2).min(RECONNECT_MAX);
    }
}

/// Keeps `/readyz` and the metric true until the stop.
pub(crate) async fn probe(pool: Pool, health: Health, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        let answer = tokio::time::timeout(ROUND_TRIP_MAX, async {
            let client = pool.get().await.map_err(db::Error::from)?;
            client.execute("select 1", &[]).await.map_err(db::Error::from)
        })
        .await;
        let state = match answer {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} s", ROUND_TRIP_MAX.as_secs())),
        };
        ::metrics::gauge!(metrics::DATABASE_UP).set(if state.is_ok() { 1.0 } else { 0.0 });
        health.set("database", state);
        shutdown.sleep(PROBE_EVERY).await;
    }
    health.set("start", Err("stopping".to_owned()));
}
