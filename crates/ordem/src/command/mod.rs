//! One file a subcommand: its arguments, its report, and what it does.

pub(crate) mod backfill;
pub(crate) mod check;
pub(crate) mod effects;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod ledger;
pub(crate) mod migrate;
pub(crate) mod pause;
pub(crate) mod profile;
pub(crate) mod refused;
pub(crate) mod replay;
pub(crate) mod send;
pub(crate) mod sign;
pub(crate) mod status;

mod moved;
mod signing;
