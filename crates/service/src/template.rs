//! Texts that a destination makes of a message: bodies, paths, subjects, mails.
//!
//! A template sees one value (the message) and nothing else: it reads no file, includes no other template, and
//! ends after a bounded amount of work. What the message lacks is an error, never an empty text: a path or a
//! receipt with a hole in it must not leave the house. How a value is written is fixed by [`Escape`], so that
//! what a customer typed cannot end a JSON string, open an HTML tag or lengthen a path.

mod escape;
mod money;

use std::sync::Arc;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, value::Serde};
use serde::Serialize;

pub use escape::Escape;

/// Longest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 256 * 1024;

/// Longest text a template may make, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// Most steps of one rendering; a step is an instruction or 64 bytes of text.
const FUEL: u64 = 200_000;

/// What a message has at its top, and below `data`.
const TOP: [&str; 3] = ["type", "timestamp", "data"];
const DATA: [&str; 9] = ["effect_id", "source", "kind", "id", "effect", "key", "status", "version", "fields"];

/// What templates of this engine may call besides the values of the message.
const FUNCTIONS: [&str; 4] = ["range", "dict", "namespace", "debug"];

/// The one name a template has in its own environment.
const NAME: &str = "template";

/// A template that was found sound, ready to be rendered. Clones share it.
#[derive(Debug, Clone)]
pub struct Template {
    environment: Arc<Environment<'static>>,
    escape: Escape,
}

impl Template {
    /// Reads a template. Unknown filters and values that no message has (`date.fields`) are found here, as far as
    /// they can be without a message.
    ///
    /// # Errors
    /// The line and the reason.
    pub fn compile(text: &str, escape: Escape) -> Result<Self, String> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(format!(
                "a template may have {TEMPLATE_BYTES_MAX} bytes, this one has {}",
                text.len()
            ));
        }
        let mut environment = environment(escape);
        environment.add_template_owned(NAME, text.to_owned()).map_err(|error| text_of(&error))?;
        known(&environment)?;
        tried(environment.clone())?;
        Ok(Self { environment: Arc::new(environment), escape })
    }

    /// The text for one message.
    ///
    /// # Errors
    /// The line and the reason: a value that the message lacks, a null where a text must stand, an amount without
    /// currency, too much work or too long a text. The same message brings the same error.
    pub fn render(&self, message: &impl Serialize) -> Result<String, String> {
        // By way of JSON, for the fields of a message are JSON as it was stored.
        let message = serde_json::to_value(message).map_err(|error| error.to_string())?;
        let template = self.environment.get_template(NAME).map_err(|error| text_of(&error))?;
        let text = template.render(Serde(&message)).map_err(|error| text_of(&error))?;
        if text.len() > OUTPUT_BYTES_MAX {
            return Err(format!("the text has {} bytes, {OUTPUT_BYTES_MAX} are allowed", text.len()));
        }
        self.escape.check(&text)?;
        Ok(text)
    }
}

fn environment(escape: Escape) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // It names the value that was undefined; the source stays out of the texts, see `text_of`.
    environment.set_debug(true);
    environment.set_auto_escape_callback(move |_| escape.automatic());
    environment.set_formatter(move |out, state, value| escape.write(out, state, value));
    environment.add_filter("money", money::with_currency);
    environment.add_filter("amount", money::amount);
    environment
}

/// Refuses what no message has.
fn known(environment: &Environment<'_>) -> Result<(), String> {
    let template = environment.get_template(NAME).map_err(|error| text_of(&error))?;
    let mut unknown: Vec<String> =
        template.undeclared_variables(true).into_iter().filter(|path| !is_known(path)).collect();
    unknown.sort();
    match unknown.first() {
        None => Ok(()),
        Some(path) => Err(format!(
            "no message has {path}: there are {}, and below data {}",
            TOP.join(", "),
            DATA.join(", ")
        )),
    }
}

fn is_known(path: &str) -> bool {
    let mut parts = path.split('.');
    match (parts.next(), parts.next()) {
        (Some("data"), Some(below)) => DATA.contains(&below),
        (Some(top), _) => TOP.contains(&top) || FUNCTIONS.contains(&top),
        (None, _) => true,
    }
}

/// Renders without a message and looks only for names that do not exist: the engine finds them when it meets them.
fn tried(mut environment: Environment<'_>) -> Result<(), String> {
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_formatter(|_, _, _| Ok(()));
    for filter in ["money", "amount"] {
        environment.add_filter(filter, |_: Value, _: Value| "");
    }
    let template = environment.get_template(NAME).map_err(|error| text_of(&error))?;
    match template.render(()) {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::UnknownFilter | ErrorKind::UnknownTest | ErrorKind::UnknownFunction
            ) =>
        {
            Err(text_of(&error))
        }
        _ => Ok(()),
    }
}

/// Line and reason. Values of a message are never part of it.
fn text_of(error: &Error) -> String {
    let kind = error.kind();
    let reason = match error.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None if kind == ErrorKind::OutOfFuel => format!("takes more than {FUEL} steps"),
        None => kind.to_string(),
    };
    match error.line() {
        Some(line) => format!("line {line}: {reason}"),
        None => reason,
    }
}

#[cfg(test)]
mod tests;
