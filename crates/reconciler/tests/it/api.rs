//! A provider's API that answers as the test says, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use tokio::time::Instant;

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Decoded pairs.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) at: Instant,
}

impl Asked {
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Says {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

pub(crate) fn ok(body: impl ToString) -> Says {
    Says { status: 200, headers: Vec::new(), body: body.to_string() }
}

pub(crate) fn status(status: u16) -> Says {
    Says { status, headers: Vec::new(), body: "{}".to_owned() }
}

impl Says {
    pub(crate) fn with(mut self, header: &'static str, value: impl ToString) -> Self {
        self.headers.push((header, value.to_string()));
        self
    }
}

type Answers = Arc<Mutex<dyn FnMut(&Asked) -> Says + Send>>;

#[derive(Clone)]
struct Inner {
    answers: Answers,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// The API.
pub(crate) struct Api {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Api {
    pub(crate) async fn start(answers: impl FnMut(&Asked) -> Says + Send + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::default();
        let inner = Inner { answers: Arc::new(Mutex::new(answers)), asked: Arc::clone(&asked) };
        let router = Router::new().fallback(answer).with_state(inner);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(State(inner): State<Inner>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let text = |value: &axum::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let query = head.uri.query().unwrap_or_default();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let asked = Asked {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
        at: Instant::now(),
    };
    let says = (inner.answers.lock().unwrap())(&asked);
    inner.asked.lock().unwrap().push(asked);
    let mut response = (StatusCode::from_u16(says.status).unwrap(), says.body).into_response();
    for (name, value) in says.headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}
