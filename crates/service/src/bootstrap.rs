//! How every daemon starts and stops, in the same order.

use std::{future::Future, net::SocketAddr, process::ExitCode, sync::Arc, time::Duration};

use anyhow::Context as _;
use db::{Options, PlanShape, Pool};
use domain::Clock;

use crate::{
    Args, Health, Shutdown, SystemClock, admin, allocator, database, metrics,
    settings::{Configured, Demand, Settings},
    shutdown, telemetry,
};

/// What tells one daemon from another before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Daemon {
    /// Its name: binary, section of the configuration, label.
    pub name: &'static str,
    /// One sentence for `--help`.
    pub about: &'static str,
    /// Its release.
    pub version: &'static str,
    /// Where its admin port is.
    pub admin: fn(&Settings) -> SocketAddr,
    /// How its pooled connections plan.
    pub plans: PlanShape,
    /// Whose secrets it needs.
    pub demand: Demand,
}

/// All a daemon gets.
pub struct Context {
    /// The configuration, checked.
    pub configured: Arc<Configured>,
    /// Connections for everything but hot paths.
    pub pool: Pool,
    /// To open connections of one's own.
    pub database: Options,
    /// Where now comes from.
    pub clock: Arc<dyn Clock>,
    /// Tells when to stop.
    pub shutdown: Shutdown,
    /// Says when it serves.
    pub health: Health,
}

/// Bad configuration: nothing was started.
const EXIT_CONFIGURATION: u8 = 2;

/// Runs a daemon from its command line to its exit code.
///
/// Order: arguments, configuration, logs, signals, admin port, database (waited for) and its schema, then the
/// daemon until it ends or the stop comes, then its drain within `service.drain_timeout`.
/// Exit codes: 0 stopped cleanly, 1 failed (or faults found by `--check`), 2 bad configuration.
pub fn run<F, R>(daemon: Daemon, start: F) -> ExitCode
where
    F: FnOnce(Context) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    allocator::keep_pages_small();
    let args = Args::parse_for(&daemon);
    let demand = if args.check { Demand::Everything } else { daemon.demand };
    let loaded = Configured::load_serving(&args.config, demand, &args.destinations);
    if args.check {
        return report(daemon, &loaded);
    }
    let configured = match loaded {
        Ok(configured) => configured,
        Err(faults) => {
            eprintln!("{}: bad configuration, nothing was started:", daemon.name);
            faults.iter().for_each(|fault| eprintln!("  {fault}"));
            return ExitCode::from(EXIT_CONFIGURATION);
        }
    };
    if args.health {
        return match admin::ask((daemon.admin)(&configured.settings)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(daemon.name, &error, 1),
        };
    }
    let database = match database::database_options(&configured.settings, daemon.name, daemon.plans) {
        Ok(options) => options,
        Err(error) => return fail(daemon.name, &error, EXIT_CONFIGURATION),
    };
    if let Err(error) = database.validate() {
        return fail(daemon.name, &error.into(), EXIT_CONFIGURATION);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(daemon.name, &error.into(), 1),
    };
    let ended = runtime.block_on(serve(daemon, configured, database, start));
    // What still runs has had its time to drain.
    runtime.shutdown_timeout(Duration::from_millis(200));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "{} failed", daemon.name);
            fail(daemon.name, &error, 1)
        }
    }
}

fn report(daemon: Daemon, loaded: &Result<Configured, Vec<crate::settings::Fault>>) -> ExitCode {
    match loaded {
        Ok(configured) => {
            configured.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
            let database = database::database_options(&configured.settings, daemon.name, daemon.plans)
                .and_then(|options| {
                    options.validate().map_err(|error| anyhow::anyhow!("database.url: {error}"))
                });
            if let Err(error) = database {
                eprintln!("{error:#}");
                eprintln!("1 fault(s)");
                return ExitCode::FAILURE;
            }
            eprintln!("configuration is valid");
            ExitCode::SUCCESS
        }
        Err(faults) => {
            faults.iter().for_each(|fault| eprintln!("{fault}"));
            eprintln!("{} fault(s)", faults.len());
            ExitCode::FAILURE
        }
    }
}

fn fail(name: &str, error: &anyhow::Error, code: u8) -> ExitCode {
    eprintln!("{name}: {error:#}");
    ExitCode::from(code)
}

async fn serve<F, R>(
    daemon: Daemon,
    configured: Configured,
    database: Options,
    start: F,
) -> anyhow::Result<()>
where
    F: FnOnce(Context) -> R,
    R: Future<Output = anyhow::Result<()>>,
{
    telemetry::install(&configured.settings.telemetry).context("telemetry")?;
    let recorder = metrics::install().context("metrics")?;
    let shutdown = Shutdown::new();
    shutdown::on_signals(shutdown.clone()).context("signal handlers")?;
    let health = Health::new();
    let admin = admin::serve((daemon.admin)(&configured.settings), health.clone(), recorder).await?;
    tracing::info!(version = daemon.version, %admin, "{} starting", daemon.name);
    for warning in configured.warnings_for(daemon.demand) {
        tracing::warn!("{warning}");
    }
    let pool = db::pool(&database, tokio::runtime::Handle::current())?;
    if !database::wait_for(&pool, &health, &shutdown).await? {
        return Ok(());
    }
    tokio::spawn(database::probe(pool.clone(), health.clone(), shutdown.clone()));
    let drain_timeout = configured.settings.service.drain_timeout.get();
    let context = Context {
        configured: Arc::new(configured),
        pool,
        database,
        clock: Arc::new(SystemClock),
        shutdown: shutdown.clone(),
        health,
    };
    let deadline = async {
        shutdown.triggered().await;
        tokio::time::sleep(drain_timeout).await;
    };
    tokio::select! {
        ended = start(context) => {
            ended?;
            tracing::info!("{} stopped", daemon.name);
            Ok(())
        }
        () = deadline => anyhow::bail!("not drained within {} s: ended anyway", drain_timeout.as_secs()),
    }
}
