//! What `/readyz` answers: each part says whether it is ready.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The readiness of a daemon's parts. Ready when every part that spoke is.
#[derive(Debug, Clone, Default)]
pub struct Health {
    parts: Arc<Mutex<BTreeMap<&'static str, Result<(), String>>>>,
}

impl Health {
    /// Nothing has spoken: not ready.
    pub fn new() -> Self {
        let health = Self::default();
        health.set("start", Err("starting".to_owned()));
        health
    }

    /// Says whether a part is ready, and why not.
    pub fn set(&self, part: &'static str, state: Result<(), String>) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).insert(part, state);
    }

    /// The daemon serves from now on.
    pub fn started(&self) {
        self.set("start", Ok(()));
    }

    /// Each part that is not ready with its reason.
    ///
    /// # Errors
    /// One line a part.
    pub fn ready(&self) -> Result<(), String> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<String> = parts
            .iter()
            .filter_map(|(part, state)| state.as_ref().err().map(|reason| format!("{part}: {reason}")))
            .collect();
        if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
    }
}
