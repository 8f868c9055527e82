//! What makes two deliveries the same event: the dedup key and its exact format.
//!
//! A key is one of
//! - the text itself, for a key with one part: `evt_1`;
//! - `LENGTH:TEXT` of each part, joined by `|`, for several parts: `10:order.paid|5:ped_1` (lengths in bytes);
//! - the same after `N#`, for the N-th composition of a profile from the second on: `2#5:ped_1`;
//! - the same after `api#`, for what was read from the provider's API: kind, id, version, mark of the values;
//! - `sha256:HEX` of the event's bytes when no composition is usable, or of the key when it is too long.
//!
//! A text that itself starts like one of the other forms is written with its length, so no two keys run together.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::document::Unreadable;
use crate::leaf::Leaf;
use crate::place::Place;
use crate::shape::Leaves;

/// Longest key that is stored as it is; longer ones are stored by their SHA-256.
pub(crate) const KEY_BYTES_MAX: usize = 512;

/// What is done with deliveries that say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Policy {
    /// One of them counts.
    #[default]
    Key,
    /// Every delivery is new.
    None,
    /// Every delivery marks its resource, and one read serves all that wait.
    Coalesce,
}

/// What makes two deliveries the same: compositions in order, the first whose parts are all present is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dedup {
    pub(crate) policy: Policy,
    pub(crate) compositions: Vec<Vec<Place>>,
}

impl Dedup {
    /// The key by the first composition whose parts are all present; none when there is no such composition.
    ///
    /// # Errors
    /// A part that cannot be a part of a key.
    pub(crate) fn key<'a>(
        &self,
        leaves: &Leaves<'a>,
        headers: &dyn signature::Headers,
    ) -> Result<Option<Cow<'a, str>>, Unreadable> {
        for (index, composition) in self.compositions.iter().enumerate() {
            if let Some(parts) = parts(composition, leaves, headers)? {
                return Ok(Some(compose(index, parts)));
            }
        }
        Ok(None)
    }
}

/// The parts of one composition, if all are there.
fn parts<'a>(
    composition: &[Place],
    leaves: &Leaves<'a>,
    headers: &dyn signature::Headers,
) -> Result<Option<Vec<Cow<'a, str>>>, Unreadable> {
    let mut parts = Vec::with_capacity(composition.len());
    for place in composition {
        let part = match place.leaf(leaves, headers)? {
            Leaf::Text(text) if text.contains('\0') => return Err(place.unusable("contains a NUL")),
            Leaf::Text(text) if !text.is_empty() => text,
            Leaf::Number(digits) => digits,
            Leaf::Boolean(value) => Cow::Borrowed(if value { "true" } else { "false" }),
            Leaf::Text(_) | Leaf::Absent | Leaf::Null | Leaf::Composite(_) => return Ok(None),
        };
        parts.push(part);
    }
    Ok(Some(parts))
}

fn compose<'a>(index: usize, mut parts: Vec<Cow<'a, str>>) -> Cow<'a, str> {
    if index == 0 && parts.len() == 1 && !looks_composed(&parts[0]) && parts[0].len() <= KEY_BYTES_MAX {
        return parts.swap_remove(0);
    }
    let head = if index == 0 { String::new() } else { format!("{}#", index + 1) };
    Cow::Owned(short(joined(head, &parts)))
}

/// Whether a text starts like a form other than the plain one.
fn looks_composed(text: &str) -> bool {
    let after_digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = after_digits.len() < text.len() && after_digits.starts_with([':', '#']);
    numbered || text.starts_with("sha256:") || text.starts_with("api#")
}

/// The key of something read from the provider's API.
pub(crate) fn api_key(kind: &str, id: &str, version: &str, values: &str) -> String {
    short(joined("api#".to_owned(), &[kind, id, version, values]))
}

fn joined(head: String, parts: &[impl AsRef<str>]) -> String {
    let mut key = head;
    for (index, part) in parts.iter().map(AsRef::as_ref).enumerate() {
        let bar = if index == 0 { "" } else { "|" };
        // Writing to a String cannot fail.
        let _ = write!(key, "{bar}{}:{part}", part.len());
    }
    key
}

fn short(key: String) -> String {
    if key.len() > KEY_BYTES_MAX { of_bytes(key.as_bytes()) } else { key }
}

/// `sha256:HEX` of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(index: usize, parts: &[&str]) -> String {
        compose(index, parts.iter().map(|part| Cow::Borrowed(*part)).collect()).into_owned()
    }

    #[test]
    fn keys_have_the_documented_form() {
        assert_eq!(key(0, &["evt_1"]), "evt_1");
        assert_eq!(key(0, &["order.paid", "ped_1"]), "10:order.paid|5:ped_1");
        assert_eq!(key(1, &["ped_1"]), "2#5:ped_1");
        assert_eq!(key(0, &["5:ped_1"]), "7:5:ped_1");
        assert_eq!(key(0, &["sha256:00"]), "9:sha256:00");
        assert_eq!(api_key("order", "ped_1", "seq:7", "ab"), "api#5:order|5:ped_1|5:seq:7|2:ab");
    }

    #[test]
    fn different_parts_never_give_the_same_key() {
        let long = "x".repeat(KEY_BYTES_MAX + 1);
        let keys = [
            key(0, &["a|1:b"]),
            key(0, &["a", "b"]),
            key(0, &["1:a|1:b"]),
            key(0, &["a|1", "b"]),
            key(1, &["a"]),
            key(0, &["a"]),
            key(0, &["2#1:a"]),
            key(2, &["a"]),
            key(0, &[&long]),
            key(0, &[&of_bytes(format!("513:{long}").as_bytes())]),
            key(0, &["api#1:a"]),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len(), "{keys:?}");
    }

    #[test]
    fn a_long_key_is_stored_by_its_digest() {
        assert_eq!(key(0, &[&"x".repeat(512)]).len(), 512);
        assert!(key(0, &[&"x".repeat(513)]).starts_with("sha256:"));
        assert!(key(0, &["x", &"y".repeat(600)]).starts_with("sha256:"));
    }
}
