//! The sections of the configuration. `config/ordem.toml` documents each key and holds its default.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
};

use domain::FlowSpec;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error};

use crate::settings::{DatedSecret, DestinationSettings, LedgerSettings, SecretRef, Span};

/// The whole configuration as written.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `[service]`
    pub service: ServiceSettings,
    /// `[telemetry]`
    pub telemetry: TelemetrySettings,
    /// `[database]`
    pub database: DatabaseSettings,
    /// `[receiver]`
    pub receiver: ReceiverSettings,
    /// `[applier]`
    pub applier: ApplierSettings,
    /// `[publisher]`
    pub publisher: PublisherSettings,
    /// `[reconciler]`
    pub reconciler: ReconcilerSettings,
    /// `[ledger]`
    pub ledger: LedgerSettings,
    /// `[sources.NAME]`
    pub sources: BTreeMap<String, SourceSettings>,
    /// `[destinations.NAME]`
    pub destinations: BTreeMap<String, DestinationSettings>,
    /// `[flows.KIND]`
    pub flows: BTreeMap<String, FlowSpec>,
}

/// What all daemons share.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSettings {
    /// Longest drain after SIGTERM.
    pub drain_timeout: Span,
    /// Where profiles are, relative to the configuration folder.
    pub profiles_dir: PathBuf,
}

/// Logs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetrySettings {
    /// For whom the lines are.
    pub log_format: LogFormat,
    /// Directives of `EnvFilter`.
    pub log_filter: String,
}

/// For whom log lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// People on a terminal, machines elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// Readable lines.
    Human,
}

/// The database.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSettings {
    /// Its address, which holds a password.
    pub url: SecretRef,
    /// Most pooled connections.
    pub connections_max: usize,
    /// Longest wait for one.
    pub acquire_timeout: Span,
    /// Longest statement.
    pub statement_timeout: Span,
}

/// The receiver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "config/ordem.toml documents each key")]
pub struct ReceiverSettings {
    pub listen: SocketAddr,
    pub admin: SocketAddr,
    pub workers: usize,
    pub committers: usize,
    pub batch_max: usize,
    pub queue_max: usize,
    pub body_bytes_max: usize,
    pub bodies_bytes_max: usize,
    pub body_timeout: Span,
    pub store_timeout: Span,
    pub retry_after: Span,
    pub refused_keep: u32,
    pub connections_max: usize,
}

/// The applier.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "config/ordem.toml documents each key")]
pub struct ApplierSettings {
    pub admin: SocketAddr,
    pub workers: usize,
    pub batch_max: usize,
    pub batch_bytes_max: usize,
    pub linger: Span,
    pub poll: Span,
    pub sweep: Span,
    pub attempts_max: u32,
    pub backoff_base: Span,
    pub backoff_cap: Span,
    pub retention: Span,
    pub keys_retention: Span,
}

/// The publisher.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "config/ordem.toml documents each key")]
pub struct PublisherSettings {
    pub admin: SocketAddr,
    pub poll: Span,
    pub batch_max: usize,
    pub concurrency: usize,
    pub lease: Span,
    pub request_timeout: Span,
    pub connect_timeout: Span,
    pub attempts_max: u32,
    pub backoff_base: Span,
    pub backoff_cap: Span,
    pub breaker_failures: usize,
    pub breaker_pause_max: Span,
    pub response_bytes_max: usize,
    pub response_excerpt_bytes: usize,
    pub allow_addresses: AddressList,
    pub destinations: NameList,
}

/// The reconciler.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "config/ordem.toml documents each key")]
pub struct ReconcilerSettings {
    pub admin: SocketAddr,
    pub every: Span,
    pub overlap: Span,
    pub lag: Span,
    pub first_lookback: Span,
    pub pages_max: u32,
    pub lookup_concurrency: usize,
    pub request_timeout: Span,
    pub connect_timeout: Span,
    pub attempts_max: u32,
    pub retry_after_max: Span,
    pub response_bytes_max: usize,
    pub allow_addresses: AddressList,
}

/// One inbound endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSettings {
    /// Name of a profile.
    pub profile: String,
    /// Live secrets; any may have signed.
    pub secrets: Vec<DatedSecret>,
    /// Base URL of the provider's API.
    pub api_url: Option<SecretRef>,
    /// Its token.
    pub api_token: Option<SecretRef>,
    /// The second secret of providers that want two.
    pub api_user: Option<SecretRef>,
    /// Secrets for checks of the profile that name a list of their own.
    #[serde(default)]
    pub more_secrets: BTreeMap<String, Vec<DatedSecret>>,
    /// The address as it was registered with the provider, where the provider signs it.
    pub public_url: Option<String>,
    /// Whether the provider's subscription is switched on again when it is found disabled.
    #[serde(default)]
    pub reenable: bool,
    /// What the profile leaves to each source, such as the provider's id of this webhook.
    #[serde(default)]
    pub constants: BTreeMap<String, String>,
    /// Zone of instants without offset, instead of the profile's.
    pub zone: Option<String>,
    /// Options of the profile that are on.
    #[serde(default)]
    pub options: BTreeSet<String>,
    /// Whether a missing secret is a fault.
    #[serde(default)]
    pub required: bool,
}

/// Names: a list, or one text with commas (as in an environment variable).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameList(pub Vec<String>);

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parts(deserializer).map(Self)
    }
}

/// A list of texts, or one text with commas; blank parts are none.
fn parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        List(Vec<String>),
        Text(String),
    }
    let parts = match Written::deserialize(deserializer)? {
        Written::List(list) => list,
        Written::Text(text) => text.split(',').map(str::to_owned).collect(),
    };
    let trimmed = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    Ok(trimmed.map(str::to_owned).collect())
}

/// CIDR ranges: a list, or one text with commas (as in an environment variable).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressList(pub Vec<IpNet>);

impl<'de> Deserialize<'de> for AddressList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = parts(deserializer)?;
        let ranges = parts.iter().map(|part| {
            let single = || part.parse().ok().map(|address: std::net::IpAddr| IpNet::from(address));
            part.parse().ok().or_else(single).ok_or_else(|| {
                D::Error::custom(format!(
                    "\"{part}\" is no address range: write it like 10.0.0.0/8 or ::1/128"
                ))
            })
        });
        ranges.collect::<Result<_, _>>().map(Self)
    }
}
