//! Bodies as people are shown them.

use std::borrow::Cow;

use serde_json::Value;

use crate::decode::INFLATED_BYTES_MAX;
use crate::place;
use crate::profile::Profile;

/// What stands in place of a value that people are not shown.
const BLANK: &str = "[redacted]";

impl Profile {
    /// A stored body as text, with what the profile redacts blanked; bytes that are no text are replaced.
    ///
    /// A body that cannot be read is withheld where something would have to be blanked in it.
    pub fn shown(&self, body: &[u8], headers: &dyn signature::Headers) -> String {
        if self.redact.is_empty() {
            return String::from_utf8_lossy(body).into_owned();
        }
        let text = self.decoding.text(body, headers, INFLATED_BYTES_MAX);
        let document = text.ok().and_then(|text: Cow<'_, str>| serde_json::from_str::<Value>(&text).ok());
        match document {
            Some(mut document) => {
                self.redact.iter().for_each(|path| blank(&mut document, path));
                document.to_string()
            }
            None => format!("[withheld: {} bytes in which nothing can be blanked]", body.len()),
        }
    }
}

/// Blanks the value at a path; in a list that the path does not index, in every element.
fn blank(document: &mut Value, path: &str) {
    let Ok(keys) = place::keys(path) else { return };
    blank_at(document, &keys);
}

fn blank_at(at: &mut Value, keys: &[String]) {
    let Some((first, rest)) = keys.split_first() else {
        *at = Value::String(BLANK.to_owned());
        return;
    };
    match at {
        Value::Object(object) => object.get_mut(first).into_iter().for_each(|inner| blank_at(inner, rest)),
        Value::Array(list) => match index(first) {
            Some(index) => list.get_mut(index).into_iter().for_each(|inner| blank_at(inner, rest)),
            None => list.iter_mut().for_each(|inner| blank_at(inner, keys)),
        },
        _ => {}
    }
}

/// `[3]` as 3.
fn index(key: &str) -> Option<usize> {
    key.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        let text = include_str!("../../../profiles/loja.toml").replace(
            "refusal = 401",
            "refusal = 401\nredact = [\"token\", \"data.card.number\", \"list[1].x\"]",
        );
        Profile::parse("loja", &text).unwrap().shown(body.as_bytes(), &())
    }

    #[test]
    fn what_the_profile_redacts_is_blank_wherever_it_stands() {
        assert_eq!(
            shown(
                r#"{"data":{"card":{"number":"4111","brand":"v"}},"list":[{"x":1},{"x":2}],"token":{"a":1}}"#
            ),
            r#"{"data":{"card":{"brand":"v","number":"[redacted]"}},"list":[{"x":1},{"x":"[redacted]"}],"token":"[redacted]"}"#
        );
        assert_eq!(
            shown(r#"[{"token":"s"},{"token":"t"}]"#),
            r#"[{"token":"[redacted]"},{"token":"[redacted]"}]"#
        );
        assert_eq!(shown(r#"{"other":1}"#), r#"{"other":1}"#);
    }

    #[test]
    fn what_cannot_be_read_is_withheld_only_where_something_is_redacted() {
        let withheld = shown("token=s3cr3t");
        assert!(withheld.starts_with("[withheld: 12 bytes") && !withheld.contains("s3cr3t"), "{withheld}");
        let loja = Profile::parse("loja", include_str!("../../../profiles/loja.toml")).unwrap();
        assert_eq!(loja.shown(b"token=s3cr3t", &()), "token=s3cr3t");
    }
}
