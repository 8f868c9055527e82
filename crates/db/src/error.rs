//! What can go wrong with the database, by what the caller can do about it.

use tokio_postgres::error::SqlState;

/// A failed call to the database.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached or broke off: wait and try again.
    #[error("database unavailable: {0}")]
    Unavailable(String),
    /// Deadlock, serialisation failure or a full lock table: the same work can be tried again at once or in
    /// smaller pieces.
    #[error("database asks to retry: {0}")]
    Retry(#[source] tokio_postgres::Error),
    /// The statement or its data was refused: trying again brings the same.
    #[error("statement refused: {}", describe(.0))]
    Refused(#[source] tokio_postgres::Error),
    /// The connection settings are wrong.
    #[error("{0}")]
    Settings(String),
    /// The server ended the statement because it took too long: less at a time may work.
    #[error("statement took longer than database.statement_timeout: {}", describe(.0))]
    TooSlow(#[source] tokio_postgres::Error),
    /// The schema is not the one this binary knows.
    #[error("{0}")]
    Schema(String),
}

impl Error {
    /// Whether a lock could not be had in time.
    pub fn is_lock_timeout(&self) -> bool {
        matches!(self, Self::Retry(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// Whether waiting for the database is all that can be done.
    pub const fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// The error with what lies behind it: "error connecting to server" alone helps nobody.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn describe(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(
        || error.to_string(),
        |refused| format!("{} (SQLSTATE {})", refused.message(), refused.code().code()),
    )
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else {
            // Without a SQLSTATE the server never saw or never answered it, except for values that could not
            // be converted on our side.
            let text = with_causes(&error);
            return if text.contains("serializing parameter") || text.contains("deserializing column") {
                Self::Refused(error)
            } else {
                Self::Unavailable(text)
            };
        };
        let retry = [
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::OUT_OF_MEMORY,
            SqlState::LOCK_NOT_AVAILABLE,
        ];
        // Connection failures, resources (disk full, too many connections), operator intervention, system.
        let unavailable = ["08", "53", "57", "58"];
        if retry.contains(code) {
            Self::Retry(error)
        } else if *code == SqlState::QUERY_CANCELED {
            Self::TooSlow(error)
        } else if unavailable.contains(&&code.code()[..2]) {
            Self::Unavailable(describe(&error))
        } else {
            Self::Refused(error)
        }
    }
}

impl From<deadpool_postgres::PoolError> for Error {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => error.into(),
            other => Self::Unavailable(with_causes(&other)),
        }
    }
}
