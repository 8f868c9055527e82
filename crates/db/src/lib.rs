//! The only crate that speaks SQL: migrations, inbox, resources, outbox, cursors.
//!
//! Knows nothing of HTTP and of providers. Each statement stands in a `.sql` file beside the function that
//! runs it; its first line names that function, so that slow-query logs point straight at the code.
//! "Now" is always a parameter. Every function is one statement or says that it wants a transaction.

pub mod cursors;
mod error;
pub mod ids;
pub mod inbox;
pub mod keys;
pub mod ledger;
pub mod lookups;
mod notify;
pub mod operations;
pub mod outbox;
pub mod partitions;
mod pool;
pub mod publishers;
pub mod resources;
mod schema;
mod tls;

pub use deadpool_postgres::{Client, GenericClient, Object, Pool};
pub use error::Error;
pub use notify::{Channel, Listener};
pub use pool::{Options, PlanShape, connect, pool};
pub use schema::{SchemaState, fingerprint, migrate, newest_version, schema_state};

/// What functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
