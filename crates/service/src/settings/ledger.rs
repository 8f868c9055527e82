//! `[ledger]`: how the books that effects are booked into are checked.

use serde::Deserialize;

use crate::settings::{Settings, check::Check, destinations::is_function_name};

/// What `ordem ledger check` reads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerSettings {
    /// `schema.name` of a view, or of a function without arguments, that returns a row (`problem`, `subject`, `detail`) for
    /// each thing that is wrong. Empty: none.
    pub check: String,
    /// `schema.name` of a view, table or function with the column `effect_id`: the effects that are booked. Empty: none.
    pub booked: String,
}

impl Check<'_> {
    pub(crate) fn ledger_fits(&mut self, settings: &Settings) {
        let LedgerSettings { check, booked } = &settings.ledger;
        for (key, name) in [("ledger.check", check), ("ledger.booked", booked)] {
            if !name.is_empty() && !is_function_name(name) {
                self.add(key, format!("\"{name}\" is no schema.name: write it like booking.ledger_faults"));
            }
        }
    }
}
