//! How the parts of a demo find and trust each other: ports, secrets, environment.

use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::{
    demo::{Options, daemon::Daemon},
    sandbox::Settings,
    sender,
};

/// The daemons, in the order in which they are started.
pub const DAEMONS: [&str; 4] = ["receiver", "applier", "publisher", "reconciler"];

/// Longer than the publisher waits here, so that some answers come too late.
const HANG: Duration = Duration::from_secs(6);

/// Where everything listens.
#[derive(Debug)]
pub(super) struct Addresses {
    pub(super) receiver: SocketAddr,
    pub(super) admin: [SocketAddr; 4],
    pub(super) sandbox: SocketAddr,
}

/// Made up for one demo.
pub(super) struct Secrets {
    webhook: String,
    api_token: String,
    fulfillment: String,
}

impl Addresses {
    /// Finds free ports. All are held at once, so that they differ, and let go at the end.
    pub(super) fn find(sandbox: SocketAddr) -> io::Result<Self> {
        let held: Vec<TcpListener> =
            (0..5).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<Result<_, _>>()?;
        Ok(Self {
            receiver: held[0].local_addr()?,
            admin: [
                held[1].local_addr()?,
                held[2].local_addr()?,
                held[3].local_addr()?,
                held[4].local_addr()?,
            ],
            sandbox,
        })
    }
}

impl Secrets {
    pub(super) fn make_up() -> Self {
        let fulfillment = STANDARD.encode(rand::random::<[u8; 24]>());
        Self {
            webhook: hex::encode(rand::random::<[u8; 24]>()),
            api_token: hex::encode(rand::random::<[u8; 24]>()),
            fulfillment: format!("whsec_{fulfillment}"),
        }
    }
}

/// The sandbox of a demo.
pub(super) fn settings(
    options: &Options,
    prefix: String,
    addresses: &Addresses,
    secrets: &Secrets,
) -> anyhow::Result<Settings> {
    Ok(Settings {
        seed: options.seed,
        prefix,
        lost: 0.02,
        sender: sender::Settings {
            receiver: Url::parse(&format!("http://{}/webhooks/loja", addresses.receiver))?,
            secret: SecretString::from(&*secrets.webhook),
            concurrency: 64,
            rate: options.rate,
            duplicates: 0.10,
            timeout: sender::TIMEOUT,
        },
        api_token: SecretString::from(&*secrets.api_token),
        fulfillment_secret: SecretString::from(&*secrets.fulfillment),
        database_url: Some(options.database_url.clone()),
        hang: Some(HANG),
    })
}

/// What the daemons are told.
pub(super) fn environment(
    options: &Options,
    addresses: &Addresses,
    secrets: &Secrets,
) -> anyhow::Result<BTreeMap<String, String>> {
    let sandbox = addresses.sandbox;
    let mut environment: BTreeMap<String, String> = [
        ("DATABASE_URL", options.database_url.expose_secret()),
        ("LOJA_WEBHOOK_SECRET", &secrets.webhook),
        ("LOJA_API_URL", &format!("http://{sandbox}")),
        ("LOJA_API_TOKEN", &secrets.api_token),
        ("FULFILLMENT_URL", &format!("http://{sandbox}/fulfillment")),
        ("FULFILLMENT_SECRET", &secrets.fulfillment),
        ("ORDEM__RECEIVER__LISTEN", &addresses.receiver.to_string()),
        ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8"),
        ("ORDEM__PUBLISHER__REQUEST_TIMEOUT", "4s"),
        ("ORDEM__PUBLISHER__LEASE", "10s"),
        ("ORDEM__PUBLISHER__BACKOFF_BASE", "100ms"),
        ("ORDEM__PUBLISHER__BACKOFF_CAP", "2s"),
        ("ORDEM__RECONCILER__EVERY", "1s"),
        ("ORDEM__RECONCILER__LAG", "1s"),
        ("ORDEM__RECONCILER__OVERLAP", "10s"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    for (name, admin) in DAEMONS.iter().zip(addresses.admin) {
        let key = format!("ORDEM__{}__ADMIN", name.to_uppercase());
        environment.insert(key, admin.to_string());
    }
    if let Some(config) = &options.config {
        let config = config.canonicalize();
        let config = config.context("the configuration directory cannot be read")?;
        environment.insert("ORDEM_CONFIG".to_owned(), config.display().to_string());
    }
    Ok(environment)
}

/// The daemons, none of which runs yet.
pub(super) fn daemons(
    bin_dir: &Path,
    addresses: &Addresses,
    environment: &BTreeMap<String, String>,
    logs: &Path,
) -> Vec<Daemon> {
    let environment: Vec<_> = environment.clone().into_iter().collect();
    let one = |(name, admin): (&'static str, SocketAddr)| {
        let log = logs.join(format!("{name}.log"));
        Daemon::new(name, bin_dir.join(name), environment.clone(), admin, log)
    };
    DAEMONS.into_iter().zip(addresses.admin).map(one).collect()
}
