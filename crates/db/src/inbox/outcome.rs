//! What became of events: appended once each.

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use uuid::Uuid;

use crate::Result;

/// How an event ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventVerdict {
    /// A fact went through `decide`, with this outcome.
    Decided(domain::Outcome),
    /// Authentic, but nothing we act on.
    Ignored,
    /// The provider marks it as a test.
    Test,
    /// Authentic, but it cannot be understood: set aside.
    Malformed,
    /// It failed at every attempt.
    Dead,
}

impl EventVerdict {
    /// The name in tables, views and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decided(outcome) => outcome.as_str(),
            Self::Ignored => "ignored",
            Self::Test => "test",
            Self::Malformed => "malformed",
            Self::Dead => "dead",
        }
    }
}

/// The end of one event.
#[derive(Debug, Clone)]
pub struct EventOutcome {
    /// Which event.
    pub event_id: Uuid,
    /// How it ended.
    pub verdict: EventVerdict,
    /// Why, where there is more to say.
    pub reason: Option<String>,
    /// The status the row left; `None` if it did not move or is new.
    pub status_from: Option<String>,
    /// The status the row entered; `None` if it did not move.
    pub status_to: Option<String>,
    /// Attempts it took.
    pub attempts: i32,
}

/// Appends what became of events.
///
/// # Errors
/// When the database refuses or is away.
pub async fn record_outcomes(
    client: &impl GenericClient,
    now: Timestamp,
    outcomes: &[EventOutcome],
) -> Result<()> {
    let event_ids: Vec<Uuid> = outcomes.iter().map(|outcome| outcome.event_id).collect();
    let verdicts: Vec<&str> = outcomes.iter().map(|outcome| outcome.verdict.as_str()).collect();
    let reasons: Vec<Option<&str>> = outcomes.iter().map(|outcome| outcome.reason.as_deref()).collect();
    let from: Vec<Option<&str>> = outcomes.iter().map(|outcome| outcome.status_from.as_deref()).collect();
    let to: Vec<Option<&str>> = outcomes.iter().map(|outcome| outcome.status_to.as_deref()).collect();
    let attempts: Vec<i32> = outcomes.iter().map(|outcome| outcome.attempts).collect();
    let statement = client.prepare_cached(include_str!("record_outcomes.sql")).await?;
    client.execute(&statement, &[&event_ids, &verdicts, &reasons, &from, &to, &attempts, &now]).await?;
    Ok(())
}
