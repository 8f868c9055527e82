//! What can go wrong with the database, by what the caller can do about it.

use tokio_postgres::error::{Severity, SqlState};

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
    /// A function of the user's refused, or failed.
    #[error("function {function}: {}", spoken(.error))]
    Function {
        /// `schema.name`
        function: String,
        /// As if the failure were Ordem's own.
        error: Box<Self>,
    },
}

impl Error {
    /// Whether a lock could not be had in time.
    pub fn is_lock_timeout(&self) -> bool {
        match self {
            Self::Retry(error) => error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE),
            Self::Function { error, .. } => error.is_lock_timeout(),
            _ => false,
        }
    }

    /// Whether waiting for the database is all that can be done.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Function { error, .. } => error.is_unavailable(),
            _ => false,
        }
    }

    /// Whether the data was refused for what it is (SQLSTATE classes 22 and 23), so that the same data will be again.
    pub fn is_about_data(&self) -> bool {
        match self {
            Self::Refused(error) => error.code().is_some_and(|code| matches!(&code.code()[..2], "22" | "23")),
            Self::Function { error, .. } => error.is_about_data(),
            _ => false,
        }
    }

    /// The failure of a call of the user's function. What it says of connections and of an operator's doing is about
    /// whatever it talks to, unless the connection to it is gone as well: it must not look like our database being away.
    pub(crate) fn of_function(function: &str, error: tokio_postgres::Error) -> Self {
        let is_told_by_it = error.as_db_error().is_some_and(|told| {
            let severity = told.parsed_severity();
            matches!(&told.code().code()[..2], "08" | "57")
                && !matches!(severity, Some(Severity::Fatal | Severity::Panic))
                && *told.code() != SqlState::QUERY_CANCELED
        });
        let error = if is_told_by_it { Self::Refused(error) } else { Self::from(error) };
        Self::Function { function: function.to_owned(), error: Box::new(error) }
    }
}

/// What the server said, without what that means to us.
fn spoken(error: &Error) -> String {
    match error {
        Error::Retry(error) | Error::Refused(error) | Error::TooSlow(error) => describe(error),
        other => other.to_string(),
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
