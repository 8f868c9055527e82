//! Single values out of a JSON body, for schemes that sign fields or carry the signature inside.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::Refusal;

/// The text of the value at a path such as `data.items[0].id`: texts as they are, numbers and booleans as they stand.
///
/// Nothing when the path leads nowhere or to null.
///
/// # Errors
/// The body is no JSON, a key on the way comes twice (whoever reads the event may take the other one), or the value
/// is an object or a list: none of these is what the provider put into its string to sign.
pub(crate) fn text(body: &[u8], path: &str) -> Result<Option<String>, Refusal> {
    let body = std::str::from_utf8(body).map_err(|_| Refusal::Malformed)?;
    let mut value: &RawValue = serde_json::from_str(body).map_err(|_| Refusal::Malformed)?;
    for step in steps(path) {
        let mut reader = serde_json::Deserializer::from_str(value.get());
        match step.deserialize(&mut reader).map_err(|_| Refusal::Malformed)? {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'"') => serde_json::from_str(raw).map(Some).map_err(|_| Refusal::Malformed),
        Some(b'{' | b'[') | None => Err(Refusal::Malformed),
        Some(_) => Ok(Some(raw.to_owned())),
    }
}

/// Whether the path can be followed: no part is empty, and what stands in brackets is a number.
pub(crate) fn is_path(path: &str) -> bool {
    path.split('.').all(|part| {
        let (key, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        let closed = indexes.is_empty() || indexes.ends_with(']');
        let mut numbers = indexes.split('[').skip(1).map(|index| index.trim_end_matches(']'));
        !part.is_empty()
            && !key.contains(']')
            && closed
            && numbers.all(|index| index.parse::<usize>().is_ok())
    })
}

/// One step down.
#[derive(Clone, Copy)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split('.').flat_map(|part| {
        let (key, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        let key = (!key.is_empty()).then_some(Step::Key(key));
        let index =
            |text: &str| text.trim_end_matches(']').parse().map_or(Step::Index(usize::MAX), Step::Index);
        key.into_iter().chain(indexes.split('[').skip(1).map(index))
    })
}

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if matches!(self, Step::Key(wanted) if wanted == key) {
                if found.is_some() {
                    return Err(serde::de::Error::custom("a key comes twice"));
                }
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut at) = (None, 0);
        while let Some(item) = list.next_element::<&'de RawValue>()? {
            if matches!(self, Step::Index(wanted) if wanted == at) {
                found = Some(item);
            }
            at += 1;
        }
        Ok(found)
    }

    // Below a text, a number or nothing there is nothing.
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
