//! The receiver: limits, raw body, signature, inbox, answer. It decides nothing about orders.
//!
//! One request's way: [`ingest`] reads the body within its limits, verifies the signature over those very bytes,
//! takes out what the inbox needs and hands it to its worker's [`committer`], which stores all requests in flight
//! with one statement; the answer goes out after the commit.

mod answer;
mod authentic;
mod budget;
mod committer;
mod group;
mod headers;
mod hint;
mod ingest;
mod pending;
mod refused;
mod server;
mod sources;

use db::PlanShape;
use service::{Context, Daemon, settings::Demand};

/// What the bootstrap needs to know.
pub const DAEMON: Daemon = Daemon {
    name: "receiver",
    about: "Ordem's receiver: verifies webhooks over their raw bytes, stores them in the inbox, answers after the commit",
    version: env!("CARGO_PKG_VERSION"),
    admin: |settings| settings.receiver.admin,
    plans: PlanShape::Pinned,
    demand: Demand::Sources,
};

/// Serves until the stop, then finishes what it has begun.
///
/// # Errors
/// When the address cannot be listened on, or the server fails.
pub async fn run(context: Context) -> anyhow::Result<()> {
    server::serve(context).await
}
