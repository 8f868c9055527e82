//! The whole system: real programs on a real PostgreSQL.

mod architecture;
mod cases;
mod cluster;
mod end_to_end;
mod kills;
mod line;
mod load;
mod migrations;
mod restart_publisher;
