//! One file a subcommand: its arguments, its report, and what it does.

pub(crate) mod check;
pub(crate) mod migrate;
