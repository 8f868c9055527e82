//! The whole system: real programs on a real PostgreSQL.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on says where, and the table of cases is for people"
)]

mod architecture;
mod booking;
mod cases;
mod cluster;
mod desk;
mod end_to_end;
mod kills;
mod load;
mod lookups;
mod migrations;
mod pagpolar;
mod pairs;
mod restart_publisher;
mod senders;
mod stripe;
mod system;
mod ties;
mod wordpress;
mod wploja;
