//! TLS: the destination's certificate is checked, and HTTP/2 is spoken where it offers it.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, Version},
    serve::Listener,
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use testkit::{Daemon, eventually};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
    server::TlsStream,
};

use crate::stage::{SECRET, Stage};

type Seen = Arc<Mutex<Vec<(Version, String)>>>;

/// Connections over TLS, counted.
struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    connections: Arc<AtomicUsize>,
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((stream, address)) = self.listener.accept().await else { continue };
            if let Ok(stream) = self.acceptor.accept(stream).await {
                self.connections.fetch_add(1, Ordering::SeqCst);
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

struct Https {
    url: String,
    certificate: String,
    seen: Seen,
    connections: Arc<AtomicUsize>,
}

impl Https {
    async fn start() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/effects", listener.local_addr().unwrap().port());
        let (seen, connections) = (Seen::default(), Arc::new(AtomicUsize::new(0)));
        let tls =
            Tls { listener, acceptor: TlsAcceptor::from(Arc::new(config)), connections: connections.clone() };
        let remember = |State(seen): State<Seen>, version: Version, headers: HeaderMap| async move {
            let id = headers["webhook-id"].to_str().unwrap().to_owned();
            seen.lock().unwrap().push((version, id));
        };
        let router = Router::new().fallback(remember).with_state(seen.clone());
        tokio::spawn(async move { axum::serve(tls, router).await });
        Self { url, certificate: cert.pem(), seen, connections }
    }

    fn publisher(&self, stage: &Stage, roots: &str) -> Daemon {
        let environment = [
            ("FULFILLMENT_URL", self.url.clone()),
            ("FULFILLMENT_SECRET", SECRET.to_owned()),
            ("ORDEM__PUBLISHER__ALLOW_ADDRESSES", "127.0.0.0/8,::1".to_owned()),
            ("SSL_CERT_FILE", roots.to_owned()),
        ];
        Daemon::start("publisher", &stage.database.url(), &environment)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_2_carries_calls_side_by_side_over_a_connection_it_has() {
    let https = Https::start().await;
    let stage = Stage::new(&https.url).await;
    stage.effects(200, 1).await;
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, &https.certificate).unwrap();
    let _publisher = https.publisher(&stage, &roots.display().to_string());
    eventually("delivered", 200, || stage.count("delivered")).await;
    let seen = https.seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 200);
    assert!(seen.iter().all(|(version, _)| *version == Version::HTTP_2), "{:?}", seen[0]);
    // The first calls open some before they know that one would do; then one carries all.
    let client = stage.database.client().await;
    for number in 0..100 {
        stage.effect_by(&client, &format!("more_{number}"), 0).await;
    }
    eventually("delivered", 300, || stage.count("delivered")).await;
    let connections = https.connections.load(Ordering::SeqCst);
    assert!(connections <= 64, "{connections} connections for 300 calls, 64 at a time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_nobody_vouches_for_gets_no_effect() {
    let (https, other) = (Https::start().await, Https::start().await);
    let stage = Stage::new(&https.url).await;
    let id = stage.effect("ped_1", "release_picking", 0).await;
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    std::fs::write(&roots, &other.certificate).unwrap();
    let _publisher = https.publisher(&stage, &roots.display().to_string());
    eventually("an attempt failed", true, || async { stage.shown(id).await.last_error.is_some() }).await;
    let shown = stage.shown(id).await;
    let error = shown.last_error.unwrap().to_lowercase();
    assert!(shown.state == "pending" && error.contains("certificate"), "{error}");
    assert!(https.seen.lock().unwrap().is_empty());
}
