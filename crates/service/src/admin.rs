//! The admin port: `/healthz`, `/readyz`, `/metrics`.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::Context as _;
use axum::{Router, extract::State, http::StatusCode, routing::get};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;

use crate::Health;

#[derive(Clone)]
struct Admin {
    health: Health,
    metrics: PrometheusHandle,
}

/// Opens the port and serves it in the background until the process ends: probes stay answered during the stop.
///
/// # Errors
/// When the port cannot be opened.
pub(crate) async fn serve(
    address: SocketAddr,
    health: Health,
    metrics: PrometheusHandle,
) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on the admin address {address}"))?;
    let bound = listener.local_addr()?;
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(|State(admin): State<Admin>| async move { admin.metrics.render() }))
        .with_state(Admin { health, metrics: metrics.clone() });
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "admin server ended");
        }
    });
    tokio::spawn(async move {
        // Histograms gather samples until they are drained, also when nobody scrapes.
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            metrics.run_upkeep();
        }
    });
    Ok(bound)
}

async fn ready(State(admin): State<Admin>) -> (StatusCode, String) {
    match admin.health.ready() {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(reasons) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reasons}\n")),
    }
}

/// Asks the daemon on this admin address whether it is alive.
///
/// # Errors
/// When it does not answer 200 within three seconds.
pub(crate) fn ask(address: SocketAddr) -> anyhow::Result<()> {
    let target = if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
    } else {
        address
    };
    let timeout = Duration::from_secs(3);
    let mut stream = TcpStream::connect_timeout(&target, timeout).with_context(|| format!("{target}"))?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).with_context(|| format!("{target} closed the connection"))?;
    anyhow::ensure!(&head == b"HTTP/1.1 200", "{target} answered {}", String::from_utf8_lossy(&head));
    Ok(())
}
