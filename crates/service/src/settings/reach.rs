//! How each kind of destination is reached: `type` of `[destinations.NAME]` and the keys that go with it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::settings::{HttpSettings, SecretRef};

/// The kinds of destinations.
#[derive(Debug, Clone)]
pub enum Reach {
    /// `type = "http"`
    Http(Box<HttpSettings>),
    /// `type = "sql"`
    Sql(SqlSettings),
    /// `type = "smtp"`
    Smtp(Box<SmtpSettings>),
    /// `type = "nats"`
    Nats(NatsSettings),
    /// `type = "file"`
    File(FileSettings),
    /// `type = "stdout"`
    Stdout(StdoutSettings),
}

impl Reach {
    /// The values of `type`.
    pub(crate) const TYPES: [&str; 6] = ["http", "sql", "smtp", "nats", "file", "stdout"];

    /// The value of `type`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
            Self::Sql(_) => "sql",
            Self::Smtp(_) => "smtp",
            Self::Nats(_) => "nats",
            Self::File(_) => "file",
            Self::Stdout(_) => "stdout",
        }
    }

    /// Most calls in flight unless the destination says so itself, where `publisher.concurrency` would be too many: each
    /// call of a function takes a connection to the database.
    pub const fn concurrency_max(&self) -> Option<usize> {
        match self {
            Self::Sql(_) => Some(8),
            Self::Http(_) | Self::Smtp(_) | Self::Nats(_) | Self::File(_) | Self::Stdout(_) => None,
        }
    }

    /// The function that takes these effects inside the applier's own transaction; they are never queued.
    pub fn in_transaction(&self) -> Option<&str> {
        match self {
            Self::Sql(sql) if sql.in_transaction => Some(&sql.function),
            _ => None,
        }
    }
}

/// A function of Ordem's own database.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlSettings {
    /// `schema.name` of a function with one `jsonb` argument: Ordem's message.
    pub function: String,
    /// Whether it is called inside the transaction that makes the effect, by the applier; else the publisher calls it
    /// in the transaction that marks the effect delivered.
    #[serde(default)]
    pub in_transaction: bool,
}

/// A mail for each effect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmtpSettings {
    /// The server: `smtp://user:password@host:587?tls=required`, or `smtps://…`.
    pub url: SecretRef,
    /// From whom, such as `Shop <shop@example.com>`.
    pub from: String,
    /// A template of the recipient's address.
    pub to: String,
    /// Where answers go.
    pub reply_to: Option<String>,
    /// A template of the subject.
    pub subject: String,
    /// A template of the plain text.
    pub text: Option<String>,
    /// Its file, relative to the configuration folder.
    pub text_file: Option<PathBuf>,
    /// A template of the HTML part; values are escaped.
    pub html: Option<String>,
    /// Its file.
    pub html_file: Option<PathBuf>,
}

/// A `JetStream` message for each effect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatsSettings {
    /// The server, such as `nats://user:password@host:4222`, or `tls://…`.
    pub url: SecretRef,
    /// A template of the subject.
    pub subject: String,
    /// The content of a `.creds` file.
    pub credentials: Option<SecretRef>,
}

/// A line in a file for each effect: for development.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSettings {
    /// The file, relative to the configuration folder.
    pub path: PathBuf,
}

/// A line on standard output for each effect: for development.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StdoutSettings {}

/// The text of a template's file.
///
/// # Errors
/// Which file, and why it cannot be read.
pub fn template_file(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
