//! The statements and functions of `db` against a real PostgreSQL.

mod migrate;
mod statements;
