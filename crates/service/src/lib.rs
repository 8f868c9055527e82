//! What each daemon shares: bootstrap, layered settings, telemetry, the admin server and the stop.
//!
//! Knows no business rule. A daemon is a [`Daemon`] description and one async function that gets a [`Context`].

mod admin;
mod allocator;
mod args;
mod bootstrap;
mod clock;
mod database;
mod guard;
mod health;
pub mod metrics;
pub mod outbound;
mod resolve;
mod secrets;
pub mod settings;
mod shutdown;
mod source_keys;
mod telemetry;
pub mod template;

pub use args::Args;
pub use bootstrap::{Context, Daemon, run};
pub use clock::SystemClock;
pub use database::{ROUND_TRIP_MAX, database_options};
pub use guard::{AddressGuard, Blocked};
pub use health::Health;
pub use resolve::ResolveError;
pub use secrets::LiveSecrets;
pub use shutdown::Shutdown;
pub use source_keys::{Keys, SourceKeys};
pub use template::{Escape, Template};
