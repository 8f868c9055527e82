//! The applier against a real PostgreSQL: its pass in this process, and itself as processes of its own.

mod app;
mod applying;
mod partitions;
mod poison;
mod processes;
