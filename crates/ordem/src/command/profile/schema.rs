//! `ordem profile schema`: the format for editors.

use serde::Serialize;
use serde_json::Value;

use crate::report::Report;

/// Print the JSON Schema of profiles, for editors
///
/// It is stored as docs/profile.schema.json. An editor that knows Taplo (Even Better TOML) completes and checks a file
/// whose first line is `#:schema PATH`. It is about names and types; `ordem profile check` knows the rest.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// The schema.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Printed(Value);

impl Args {
    /// Generates it.
    pub(crate) fn run(&self) -> Printed {
        Printed(profile::schema())
    }
}

impl Report for Printed {
    fn text(&self) -> String {
        format!("{:#}\n", self.0)
    }
}
