//! Hands effects to functions of this database: the user's own, each with one `jsonb` argument.

use std::{
    fmt,
    time::{Duration, Instant},
};

use deadpool_postgres::{GenericClient, Object};
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::types::Json;

use crate::{
    Error, Result,
    outbox::{Attempt, ClaimedEffect, End, Finished, Message, finish::record},
};

/// The name of a function, or of a view, in two parts, each as PostgreSQL keeps it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionName {
    schema: String,
    name: String,
}

impl FunctionName {
    /// `schema.name`; `None` when it is not written like that.
    pub fn parse(text: &str) -> Option<Self> {
        let (schema, name) = text.split_once('.')?;
        Some(Self { schema: schema.to_owned(), name: name.to_owned() })
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// Calls the function with each message, in their order: one statement, in the caller's transaction.
///
/// # Errors
/// [`Error::Function`], whatever fails.
pub async fn call_with_each(
    client: &impl GenericClient,
    function: &FunctionName,
    messages: &[Message<'_>],
) -> Result<()> {
    let messages: Vec<Json<&Message<'_>>> = messages.iter().map(Json).collect();
    let called = async {
        let statement = client.prepare_cached(include_str!("call_with_each.sql")).await?;
        client.execute(&statement, &[&function.schema, &function.name, &messages]).await
    };
    match called.await {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::of_function(&function.to_string(), error)),
    }
}

/// One leased effect that goes to a function.
#[derive(Debug, Clone, Copy)]
pub struct HandOver<'a> {
    /// Which function takes it.
    pub function: &'a FunctionName,
    /// What is handed over.
    pub effect: &'a ClaimedEffect,
    /// When the attempt begins.
    pub started_at: Timestamp,
    /// The server ends the call after this.
    pub time: Duration,
}

/// Calls the function and marks the effect as delivered, in one transaction of its own: both happen or neither. Returns
/// false, without a call, when the lease is not ours any more.
///
/// Dropped before its end, it is rolled back, save in the moment of the commit.
///
/// # Errors
/// When the function refuses or fails, or the database is away: then nothing is marked.
pub async fn hand_over(client: &mut Object, hand_over: HandOver<'_>) -> Result<bool> {
    let HandOver { function, effect, started_at, time } = hand_over;
    let begun = Instant::now();
    let transaction = client.transaction().await?;
    let milliseconds = i64::try_from(time.as_millis()).unwrap_or(i64::MAX).max(1);
    let statement = transaction.prepare_cached(include_str!("hold.sql")).await?;
    let held = transaction
        .query_opt(&statement, &[&effect.effect_id, &effect.lease_token, &milliseconds.to_string()])
        .await?;
    if held.is_none() {
        transaction.rollback().await?;
        return Ok(false);
    }
    call_with_each(&transaction, function, &[Message::of(effect)]).await?;
    let took = begun.elapsed();
    let attempt = Attempt {
        started_at,
        duration_ms: i32::try_from(took.as_millis()).unwrap_or(i32::MAX),
        result: "delivered",
        http_status: None,
        response_excerpt: None,
    };
    let (effect_id, lease_token, lane) = (effect.effect_id, effect.lease_token, effect.lane);
    let finished = Finished { effect_id, lease_token, lane, end: End::Delivered, attempt };
    let now = SignedDuration::try_from(took).ok().and_then(|took| started_at.checked_add(took).ok());
    record(&transaction, now.unwrap_or(started_at), &[finished]).await?;
    // Checks that the function left for the end speak now.
    transaction.commit().await.map_err(|error| Error::of_function(&function.to_string(), error))?;
    Ok(true)
}

/// How a function stands with a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionState {
    /// It can be called.
    Callable,
    /// There is no such function with one `jsonb` argument.
    Missing,
    /// This role may not execute it, or not use its schema.
    Forbidden {
        /// Who may not.
        role: String,
    },
}

/// Whether this role may call the function; the connection's own where nobody uses such a role.
///
/// # Errors
/// When the database is away.
pub async fn function_state(
    client: &impl GenericClient,
    function: &FunctionName,
    role: Option<&str>,
) -> Result<FunctionState> {
    let statement = client.prepare_cached(include_str!("function_state.sql")).await?;
    let row = client.query_opt(&statement, &[&function.schema, &function.name, &role]).await?;
    Ok(match row {
        None => FunctionState::Missing,
        Some(row) if row.get(1) => FunctionState::Callable,
        Some(row) => FunctionState::Forbidden { role: row.get(0) },
    })
}
