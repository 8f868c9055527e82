//! The whole system: real programs on a real PostgreSQL.

mod cases;
mod line;
