//! Bodies that are forms: their fields, and the object that their brackets make of them.

use encoding_rs::Encoding;
use serde_json::{Map, Value};

use crate::document::Unreadable;

/// Most fields of a form that are read.
const FIELDS_MAX: usize = 2_000;

/// Deepest nesting of a form's brackets.
const NESTING_MAX: usize = 16;

/// The fields in their order. What is no text in the charset is refused: replaced, two ids could become one.
pub(crate) fn fields(body: &[u8], charset: &'static Encoding) -> Result<Vec<(String, String)>, Unreadable> {
    let mut fields = Vec::new();
    for part in body.split(|byte| *byte == b'&').filter(|part| !part.is_empty()) {
        if fields.len() == FIELDS_MAX {
            return Err(Unreadable::Json(format!("a form of more than {FIELDS_MAX} fields")));
        }
        let at = part.iter().position(|byte| *byte == b'=').unwrap_or(part.len());
        let (name, value) = part.split_at(at);
        let read = |bytes: &[u8]| {
            let text =
                charset.decode_without_bom_handling_and_without_replacement(&unescaped(bytes))?.into_owned();
            Some(text)
        };
        let wrong = || Unreadable::Json(format!("a form field is not {}", charset.name()));
        fields.push((
            read(name).ok_or_else(wrong)?,
            read(value.get(1..).unwrap_or_default()).ok_or_else(wrong)?,
        ));
    }
    Ok(fields)
}

/// `%41` and `+` resolved; a `%` that nothing follows stays.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        plain.push(match (first, after) {
            (b'+', _) => b' ',
            (b'%', [high, low, ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    rest = &after[2..];
                    high * 16 + low
                }
                _ => b'%',
            },
            (other, _) => *other,
        });
    }
    plain
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The fields as a JSON object of texts, nested by the brackets of their names.
pub(crate) fn object(fields: &[(String, String)]) -> Result<String, Unreadable> {
    let mut root = Map::new();
    for (key, value) in fields {
        let keys =
            bracket_keys(key).ok_or_else(|| Unreadable::Json(format!("form key {key:?} cannot be read")))?;
        insert(&mut root, &keys, value)
            .map_err(|()| Unreadable::Json(format!("form key {key:?} is repeated")))?;
    }
    Ok(Value::Object(root).to_string())
}

/// `data[id][]` as `data`, `id`, and an empty key.
fn bracket_keys(key: &str) -> Option<Vec<&str>> {
    let (first, mut rest) = match key.find('[') {
        Some(at) if at > 0 => key.split_at(at),
        _ => (key, ""),
    };
    let mut keys = vec![first];
    while !rest.is_empty() {
        let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
        keys.push(inside);
        rest = after;
        if keys.len() > NESTING_MAX {
            return None;
        }
    }
    Some(keys)
}

/// Puts a value where its keys say; an empty key makes a list.
fn insert(at: &mut Map<String, Value>, keys: &[&str], value: &str) -> Result<(), ()> {
    let Some((first, rest)) = keys.split_first() else { return Err(()) };
    match rest {
        [] => match at.get(*first) {
            Some(Value::String(known)) if known == value => Ok(()),
            Some(_) => Err(()),
            None => {
                at.insert((*first).to_owned(), Value::String(value.to_owned()));
                Ok(())
            }
        },
        [""] => match at.entry(*first).or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(list) => {
                list.push(Value::String(value.to_owned()));
                Ok(())
            }
            _ => Err(()),
        },
        _ => match at.entry(*first).or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(inner) => insert(inner, rest, value),
            _ => Err(()),
        },
    }
}
