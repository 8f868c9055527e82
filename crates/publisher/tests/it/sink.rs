//! A destination that remembers each call and answers by script.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, Response, Uri},
};
use futures_util::stream;
use serde_json::Value;

/// One call as it came.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// How many came before it.
    pub(crate) number: usize,
    pub(crate) at: Instant,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn id(&self) -> String {
        self.header("webhook-id").to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn resource(&self) -> String {
        self.json()["data"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn effect(&self) -> String {
        self.json()["data"]["effect"].as_str().unwrap().to_owned()
    }
}

/// How a call is answered.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    endless: bool,
    delay: Duration,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), endless: false, delay: Duration::ZERO }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The body is repeated without end.
    pub(crate) fn endless(mut self) -> Self {
        self.endless = true;
        self
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

type Script = dyn Fn(&Call) -> Reply + Send + Sync;

struct Shared {
    script: Box<Script>,
    calls: Mutex<Vec<Call>>,
    arrived: AtomicUsize,
    in_flight: AtomicUsize,
    in_flight_max: AtomicUsize,
}

/// The destination. It ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Sink {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Sink {
    pub(crate) async fn start(script: impl Fn(&Call) -> Reply + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            script: Box::new(script),
            calls: Mutex::default(),
            arrived: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            in_flight_max: AtomicUsize::new(0),
        });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    /// One that answers 200 always.
    pub(crate) async fn willing() -> Self {
        Self::start(|_| Reply::status(200)).await
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/effects", self.address)
    }

    /// Calls in the order they came.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.arrived.load(Ordering::SeqCst)
    }

    /// Most calls that were answered at one time.
    pub(crate) fn in_flight_max(&self) -> usize {
        self.shared.in_flight_max.load(Ordering::SeqCst)
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let number = shared.arrived.fetch_add(1, Ordering::SeqCst);
    let call = Call { number, at: Instant::now(), method, uri, headers, body };
    let flying = shared.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
    shared.in_flight_max.fetch_max(flying, Ordering::SeqCst);
    let reply = (shared.script)(&call);
    shared.calls.lock().unwrap().push(call);
    tokio::time::sleep(reply.delay).await;
    shared.in_flight.fetch_sub(1, Ordering::SeqCst);
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    let body = if reply.endless {
        let chunk = Bytes::from(reply.body);
        Body::from_stream(stream::repeat_with(move || Ok::<_, Infallible>(chunk.clone())))
    } else {
        Body::from(reply.body)
    };
    response.body(body).unwrap()
}
