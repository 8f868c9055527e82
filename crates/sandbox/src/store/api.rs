//! The store's HTTP API, as its reconciling clients see it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    dice::Dice,
    store::{Snapshot, Store, page::Position},
};

/// The largest page.
const LIMIT_MAX: usize = 250;

/// Of the requests, how many are told to come again later.
const TOO_MANY_SHARE: f64 = 0.01;

/// The API over one store.
#[derive(Debug)]
pub struct Api {
    store: Arc<Store>,
    token: SecretString,
    dice: Dice,
    requests: AtomicU64,
    throttled: AtomicU64,
}

/// Counts of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests with the right token.
    pub requests: u64,
    /// Of them, those answered with 429.
    pub throttled: u64,
}

impl Api {
    /// The API over `store`, for whoever bears `token`.
    pub fn new(store: Arc<Store>, token: SecretString, dice: Dice) -> Self {
        Self { store, token, dice, requests: AtomicU64::new(0), throttled: AtomicU64::new(0) }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            throttled: self.throttled.load(Ordering::Relaxed),
        }
    }

    /// Its routes.
    pub fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/orders", get(list))
            .route("/orders/{id}", get(one))
            .layer(middleware::from_fn_with_state(self.clone(), admit))
            .with_state(self)
    }

    fn knows(&self, request: &Request) -> bool {
        let given = request.headers().get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        given == Some(self.token.expose_secret())
    }
}

#[derive(Debug, Deserialize)]
struct ListQuery {
    updated_since: Option<Timestamp>,
    limit: Option<usize>,
    page_token: Option<String>,
}

#[derive(Debug, Serialize)]
struct Page {
    data: Vec<Snapshot>,
    next: Option<String>,
}

async fn admit(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    if !api.knows(&request) {
        return problem(StatusCode::UNAUTHORIZED, "missing or wrong token");
    }
    let count = api.requests.fetch_add(1, Ordering::Relaxed);
    if api.dice.chance(TOO_MANY_SHARE, "api throttles", &[count]) {
        api.throttled.fetch_add(1, Ordering::Relaxed);
        let answer = problem(StatusCode::TOO_MANY_REQUESTS, "slow down");
        return ([(header::RETRY_AFTER, "1")], answer).into_response();
    }
    next.run(request).await
}

async fn list(State(api): State<Arc<Api>>, Query(query): Query<ListQuery>) -> Response {
    let from = match query.page_token.as_deref() {
        Some(token) => match Position::from_token(token) {
            Some(position) => position,
            None => return problem(StatusCode::BAD_REQUEST, "unknown page_token"),
        },
        None => Position::since(query.updated_since.unwrap_or(Timestamp::UNIX_EPOCH)),
    };
    let limit = query.limit.unwrap_or(100).clamp(1, LIMIT_MAX);
    let (data, next) = api.store.page(from, limit);
    let next = next.map(Position::to_token);
    Json(Page { data, next }).into_response()
}

async fn one(State(api): State<Arc<Api>>, Path(id): Path<String>) -> Response {
    match api.store.snapshot(&id) {
        Some(snapshot) => Json(snapshot).into_response(),
        None => problem(StatusCode::NOT_FOUND, "no such order"),
    }
}

fn problem(status: StatusCode, detail: &str) -> Response {
    (status, Json(json!({ "error": detail }))).into_response()
}
