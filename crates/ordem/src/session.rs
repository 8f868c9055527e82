//! What every subcommand that asks the database needs: configuration, a connection, and now.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, anyhow};
use db::{Client, Options, PlanShape, Pool};
use domain::Clock as _;
use jiff::Timestamp;
use service::{SystemClock, settings::Configured};
use tokio_postgres::config::Host;

use crate::failure::BadInput;

const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The configuration, and the way to the database.
pub(crate) struct Session {
    /// Checked as a whole.
    pub(crate) configured: Configured,
    /// The instant this command counts as now.
    pub(crate) now: Timestamp,
    /// Which database, for people: no password in it.
    pub(crate) place: String,
    pool: Pool,
}

impl Session {
    /// Reads the configuration; nothing is dialled yet.
    pub(crate) fn prepare(dir: &Path) -> anyhow::Result<Self> {
        let configured = Configured::load(dir).map_err(|faults| BadInput::faults(&faults))?;
        Self::with(configured, |_| {})
    }

    /// [`Session::prepare`] with other settings of the connection.
    pub(crate) fn with(configured: Configured, adjust: impl FnOnce(&mut Options)) -> anyhow::Result<Self> {
        let mut options = service::database_options(&configured.settings, "operator", PlanShape::Free)
            .map_err(|error| BadInput::new(format!("{error:#}")))?;
        options.connections_max = 1;
        adjust(&mut options);
        let pool = db::pool(&options, tokio::runtime::Handle::current())
            .map_err(|error| BadInput::new(error.to_string()))?;
        Ok(Self { configured, now: SystemClock.now(), place: place(&options.url), pool })
    }

    /// The configuration and the pool, for what works with both on its own.
    pub(crate) fn into_parts(self) -> (Configured, Pool) {
        (self.configured, self.pool)
    }

    /// A connection, whatever the schema.
    pub(crate) async fn dial(&self) -> Result<Client, db::Error> {
        Ok(self.pool.get().await?)
    }

    /// [`Session::dial`], tried again while the database is away, for at most this long.
    pub(crate) async fn dial_patiently(&self, at_most: Duration) -> anyhow::Result<Client> {
        let end = tokio::time::Instant::now() + at_most;
        let mut pause = PAUSE_FIRST;
        let mut told = false;
        loop {
            match self.dial().await {
                Ok(client) => return Ok(client),
                Err(error) if error.is_unavailable() => {
                    let left = end.saturating_duration_since(tokio::time::Instant::now());
                    if left.is_zero() {
                        let waited = format!("{}: gave up after {} s", self.place, at_most.as_secs());
                        return Err(anyhow!(error).context(waited));
                    }
                    if !told {
                        eprintln!("{}: {error}; waiting up to {} s", self.place, at_most.as_secs());
                        told = true;
                    }
                    tokio::time::sleep(pause.min(left)).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Err(error) => return Err(anyhow!(error).context(self.place.clone())),
            }
        }
    }

    /// A connection to a database with the schema this binary was built for.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let client = self.dial().await.with_context(|| self.place.clone())?;
        db::schema_state(&client).await.with_context(|| self.place.clone())?.require_current()?;
        Ok(client)
    }
}

/// `database NAME at HOST:PORT as USER`
fn place(url: &str) -> String {
    let Ok(config) = url.parse::<tokio_postgres::Config>() else { return "database".to_owned() };
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or("the default user");
    let name = config.get_dbname().unwrap_or(user);
    format!("database {name} at {host}:{port} as {user}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_database_never_shows_its_password() {
        let shown = place("postgres://ana:s3cret@db.example:6432/shop");
        assert_eq!(shown, "database shop at db.example:6432 as ana");
    }
}
