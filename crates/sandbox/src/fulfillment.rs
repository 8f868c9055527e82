//! The simulated fulfilment system: takes effects over HTTP, fails like a real one, keeps the book.
//!
//! It does the work of one idempotency key once, whatever it answers.

pub mod book;
pub mod faults;
pub mod verify;

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    clock,
    fulfillment::{
        book::{Book, Effect, Work},
        faults::{Fault, Faults},
        verify::{Secret, Verified},
    },
};

/// The largest body that is read.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// What is called when an order's picking is released for the first time.
pub type OnRelease = Box<dyn Fn(&str) + Send + Sync>;

/// The fulfilment system.
pub struct Fulfillment {
    secret: Secret,
    faults: Faults,
    book: Book,
    order_prefix: String,
    on_release: OnRelease,
}

impl Fulfillment {
    /// A system that believes what `secret` signed and keeps the book of orders called `order_prefix…`.
    pub fn new(secret: Secret, faults: Faults, order_prefix: String, on_release: OnRelease) -> Self {
        Self { secret, faults, book: Book::default(), order_prefix, on_release }
    }

    /// What was asked and done.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Its routes.
    pub fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/fulfillment", post(take))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(self)
    }

    fn work(&self, effect: &Effect, idempotency_key: &str) -> Work {
        let work = self.book.work(effect, idempotency_key);
        if work == Work::Done && effect.name == "release_picking" {
            (self.on_release)(&effect.order);
        }
        work
    }
}

#[derive(Debug, Deserialize)]
struct Request {
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    id: String,
    effect: String,
    key: Option<String>,
}

async fn take(State(system): State<Arc<Fulfillment>>, headers: HeaderMap, body: Bytes) -> Response {
    let verified = match verify::verify(&system.secret, &headers, &body, clock::now()) {
        Ok(verified) => verified,
        Err(refusal) => {
            system.book.refused(refusal.as_str());
            return problem(StatusCode::UNAUTHORIZED, refusal.as_str());
        }
    };
    let Ok(request) = serde_json::from_slice::<Request>(&body) else {
        system.book.refused("malformed");
        return problem(StatusCode::BAD_REQUEST, "malformed");
    };
    let effect = Effect {
        order: request.data.id,
        name: request.data.effect,
        key: request.data.key.unwrap_or_default(),
    };
    if !effect.order.starts_with(&system.order_prefix) {
        // Left over from an earlier run on the same database: not ours to judge.
        system.book.foreign();
        return Json(json!({ "result": "not an order of this run" })).into_response();
    }
    answer(&system, &effect, &verified).await
}

async fn answer(system: &Fulfillment, effect: &Effect, verified: &Verified) -> Response {
    let attempt = system.book.asked(effect);
    let fault = system.faults.draw(effect, attempt);
    system.book.faulty(fault);
    let key = &verified.idempotency_key;
    match fault {
        Fault::None => done(system.work(effect, key)),
        Fault::Slow(pause) => {
            tokio::time::sleep(pause).await;
            done(system.work(effect, key))
        }
        Fault::Refuses => problem(StatusCode::SERVICE_UNAVAILABLE, "not now"),
        Fault::TooMany => {
            let answer = problem(StatusCode::TOO_MANY_REQUESTS, "slow down");
            ([(header::RETRY_AFTER, "1")], answer).into_response()
        }
        Fault::FailsAfterWork => {
            system.work(effect, key);
            problem(StatusCode::INTERNAL_SERVER_ERROR, "failed on the way out")
        }
        Fault::HangsUpAfterWork => {
            system.work(effect, key);
            hang_up()
        }
        Fault::HangsAfterWork(pause) => {
            let work = system.work(effect, key);
            tokio::time::sleep(pause).await;
            done(work)
        }
    }
}

/// Breaks the connection without an answer: unwinding ends the task that serves it, and the socket with it.
fn hang_up() -> ! {
    std::panic::resume_unwind(Box::new("the fulfilment system hangs up"))
}

fn done(work: Work) -> Response {
    match work {
        Work::Done | Work::Doubled => Json(json!({ "result": "done" })).into_response(),
        Work::Repeated => Json(json!({ "result": "repeated" })).into_response(),
        Work::Conflict => problem(StatusCode::UNPROCESSABLE_ENTITY, "idempotency key of another effect"),
    }
}

fn problem(status: StatusCode, detail: &str) -> Response {
    (status, Json(json!({ "error": detail }))).into_response()
}
