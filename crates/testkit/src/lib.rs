//! What tests share: a database of their own, real processes, and the store's signed events.
//!
//! The PostgreSQL server is given by `TEST_DATABASE_URL` (an administrator's address; `make test` sets it). Without
//! it the usual local address is tried.

mod arrive;
mod daemon;
mod database;
mod line;
mod loja;
mod nats;
pub mod packages;
mod smtp;
mod wait;

pub use arrive::arrive;
pub use daemon::{Daemon, bin, free_port};
pub use database::Database;
pub use line::Line;
pub use loja::{Event, SECRET, sign};
pub use nats::NatsServer;
pub use smtp::{Mail, MailMood, SmtpServer};
pub use wait::{eventually, eventually_within};
