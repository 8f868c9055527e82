//! The sandbox's own routes beside those of the store and the fulfilment system.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ledger::{self, Ledger, views},
    sandbox::{Evidence, Progress, Sandbox},
};

/// All routes.
pub fn router(sandbox: Arc<Sandbox>) -> Router {
    let own = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/run", post(begin))
        .route("/progress", get(progress))
        .route("/ledger", get(ledger))
        .route("/truth", get(truth))
        .with_state(sandbox.clone());
    own.merge(sandbox.api.clone().router()).merge(sandbox.fulfillment.clone().router())
}

#[derive(Debug, Deserialize)]
struct Run {
    orders: u64,
}

async fn begin(State(sandbox): State<Arc<Sandbox>>, Json(run): Json<Run>) -> Response {
    if sandbox.begin(run.orders) {
        return (StatusCode::ACCEPTED, Json(json!({ "orders": run.orders }))).into_response();
    }
    let detail = json!({ "error": "too many runs wait, or orders is not 1 to 1000000" });
    (StatusCode::TOO_MANY_REQUESTS, Json(detail)).into_response()
}

async fn progress(State(sandbox): State<Arc<Sandbox>>) -> Json<Progress> {
    Json(sandbox.progress())
}

async fn truth(State(sandbox): State<Arc<Sandbox>>) -> Json<Evidence> {
    Json(sandbox.evidence())
}

/// The counts, and the comparison where the database is known.
async fn ledger(State(sandbox): State<Arc<Sandbox>>) -> Response {
    let mut answer = json!({
        "store": sandbox.store.counts(),
        "status": sandbox.store.by_status(),
        "api": sandbox.api.counts(),
        "sender": sandbox.sender.stats().summary(),
        "fulfillment": sandbox.fulfillment.book().counts(),
    });
    if let Some(database_url) = &sandbox.database_url {
        match compare(&sandbox, database_url).await {
            Ok(ledger) => {
                answer["clean"] = Value::Bool(ledger.is_clean());
                answer["ledger"] = json!(ledger);
            }
            Err(error) => {
                let detail = json!({ "error": format!("{error:#}") });
                return (StatusCode::BAD_GATEWAY, Json(detail)).into_response();
            }
        }
    }
    Json(answer).into_response()
}

async fn compare(sandbox: &Sandbox, database_url: &SecretString) -> anyhow::Result<Ledger> {
    let evidence = sandbox.evidence();
    let client = views::connect(database_url.expose_secret()).await?;
    let rows = views::Views::read(&client, &evidence.truth.order_prefix).await?;
    Ok(ledger::compare(&evidence, &rows))
}
