//! One connection to the server, until it is lost.
//!
//! The library would connect again by itself, to addresses that nobody judged: those the server tells of, those the
//! name has by then. So it is told just the vetted addresses and no more, and a lost connection is made anew from the name.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_nats::{
    ConnectOptions, Event, ServerAddr,
    jetstream::{Context, context::ContextBuilder},
};
use secrecy::ExposeSecret;
use service::AddressGuard;
use tokio::sync::watch;

use super::{
    address::{Address, Login},
    named_verifier,
};

/// Commands that may wait in the connection's queue; more wait before it.
const COMMANDS_MAX: usize = 256;

/// Acknowledgements that may be waited for.
const UNACKNOWLEDGED_MAX: usize = 1024;

/// How long the library waits for what we gave up to wait for.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(5);

/// Longest wait for an acknowledgement; each delivery has its own, which is shorter.
const ACKNOWLEDGEMENT_MAX: Duration = Duration::from_secs(600);

/// An open connection.
pub(super) struct Link {
    pub(super) stream: Context,
    address: Arc<Address>,
    lost: watch::Receiver<bool>,
}

impl Link {
    /// Dials the vetted addresses in their order. The caller bounds the time.
    pub(super) async fn open(address: Arc<Address>, guard: &AddressGuard) -> Result<Self, String> {
        let vetted = guard.resolve(&address.host, address.port).await.map_err(|error| error.to_string())?;
        let (tell, lost) = watch::channel(false);
        let servers: Vec<ServerAddr> = vetted.iter().filter_map(|at| server(*at)).collect();
        let options = options(&address, servers.len())?.event_callback(move |event| {
            if ends(&event) {
                tell.send_replace(true);
            }
            async move { told(&event) }
        });
        let client = options.connect(servers).await.map_err(|error| format!("cannot connect: {error}"))?;
        let stream = ContextBuilder::new()
            .timeout(ACKNOWLEDGEMENT_MAX)
            .ack_timeout(FORGOTTEN_AFTER)
            .max_ack_inflight(UNACKNOWLEDGED_MAX)
            .backpressure_on_inflight(true)
            .build(client);
        Ok(Self { stream, address, lost })
    }

    pub(super) fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    pub(super) fn goes_to(&self, address: &Arc<Address>) -> bool {
        Arc::ptr_eq(&self.address, address)
    }

    /// Waits until the connection is lost.
    pub(super) async fn lost(&self) {
        // An error means that the library has let go of the connection.
        let mut lost = self.lost.clone();
        let _ended = lost.wait_for(|lost| *lost).await;
    }
}

fn options(address: &Address, servers: usize) -> Result<ConnectOptions, String> {
    let options = ConnectOptions::new()
        .name("ordem-publisher")
        .ignore_discovered_servers()
        .retain_servers_order()
        .max_reconnects(servers)
        .client_capacity(COMMANDS_MAX)
        .require_tls(address.requires_tls)
        .tls_client_config(named_verifier::config(&address.host)?);
    Ok(match &address.login {
        Login::None => options,
        Login::Token(token) => options.token(token.clone()),
        Login::Password(user, password) => options.user_and_password(user.clone(), password.clone()),
        Login::Credentials(credentials) => options
            .credentials(credentials.expose_secret())
            .map_err(|_| "credentials: is no content of a .creds file".to_owned())?,
    })
}

fn server(at: SocketAddr) -> Option<ServerAddr> {
    format!("nats://{at}").parse().ok()
}

fn ends(event: &Event) -> bool {
    matches!(event, Event::Disconnected | Event::Closed | Event::LameDuckMode)
}

fn told(event: &Event) {
    match event {
        Event::ServerError(error) => tracing::warn!(%error, "the NATS server refuses"),
        Event::ClientError(error) => tracing::warn!(%error, "the connection to NATS has a fault"),
        other => tracing::debug!(event = %other, "connection to NATS"),
    }
}
