//! What a profile says of the provider's API: pure descriptions, no calls.

use std::fmt::Write as _;
use std::time::Duration;

use crate::auth::Auth;
use crate::list::List;
use crate::page::PageShape;
use crate::rate::Rate;
use crate::reader::Reader;

/// The provider's API, as far as reconciling needs it.
#[derive(Clone, Debug)]
pub struct Api {
    /// How a call says who we are; the secret itself is configured with the source.
    pub auth: Auth,
    /// Headers sent with each call; `{constant:NAME}` stands for the source's constants.
    pub headers: Vec<(String, String)>,
    /// Lists of what changed since an instant, as far as the provider has such.
    pub lists: Vec<List>,
    /// Reading one resource.
    pub get: Option<Get>,
    /// Reading open resources again one by one, where no list tells of their changes.
    pub reread: Option<Reread>,
    /// How the provider tells how much may be asked.
    pub rate: Rate,
    /// The event type under which items enter the inbox, such as `api.order`.
    pub event_type: String,
    pub(crate) item: Option<Reader>,
}

/// Reading one resource by its id.
#[derive(Clone, Debug)]
pub struct Get {
    /// Path below the API's base URL, with `{id}` where the id goes.
    pub path: String,
    pub(crate) item: PageShape,
    pub(crate) is_list: bool,
}

/// Which resources are read again, and how often.
#[derive(Clone, Debug)]
pub struct Reread {
    /// Their kind.
    pub kind: String,
    /// Their statuses: those from which something is still to come.
    pub statuses: Vec<String>,
    /// Wait between two rounds.
    pub every: Duration,
    /// Those that were first seen longer ago are left alone.
    pub max_age: Duration,
}

impl Get {
    /// The path of one resource, its id percent-encoded so that it stays one segment.
    pub fn path_of(&self, id: &str, constants: &[(String, String)]) -> String {
        with_constants(&self.path.replace("{id}", &encoded(id)), constants, encoded)
    }
}

/// Puts the source's constants into a template.
pub(crate) fn with_constants(
    template: &str,
    constants: &[(String, String)],
    spell: impl Fn(&str) -> String,
) -> String {
    constants.iter().fold(template.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{constant:{name}}}"), &spell(value))
    })
}

impl Api {
    /// Whether there is an `[api.item]`.
    pub fn has_item(&self) -> bool {
        self.item.is_some()
    }

    /// The headers of each call.
    pub fn headers_with(&self, constants: &[(String, String)]) -> Vec<(String, String)> {
        let of = |value: &String| with_constants(value, constants, str::to_owned);
        self.headers.iter().map(|(name, value)| (name.clone(), of(value))).collect()
    }
}

/// Percent-encodes all that could end a segment of a path.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            // A dot alone would be a step in the path; encoded servers still read it as the letter.
            other => {
                // Writing to a String cannot fail.
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}
