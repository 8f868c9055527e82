//! One value of an event, still as exact as it was written.

use std::borrow::Cow;

/// A JSON value where one value is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaf<'a> {
    /// The key is not there.
    Absent,
    /// The value is null: the same as absent, "no information".
    Null,
    /// A text, with its escapes resolved.
    Text(Cow<'a, str>),
    /// A number, by its digits as written: no float ever touches it.
    Number(Cow<'a, str>),
    /// True or false.
    Boolean(bool),
    /// A list or an object, where one value was expected.
    Composite(&'static str),
}

impl<'a> Leaf<'a> {
    /// Reads a value from its raw JSON text.
    ///
    /// # Errors
    /// A text with an escape that is half a character.
    pub(crate) fn read(raw: Option<&'a str>) -> Result<Self, serde_json::Error> {
        let Some(raw) = raw else { return Ok(Self::Absent) };
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Self::Text(unescape(raw)?),
            Some(b'{') => Self::Composite("an object"),
            Some(b'[') => Self::Composite("a list"),
            Some(b't') => Self::Boolean(true),
            Some(b'f') => Self::Boolean(false),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number(Cow::Borrowed(raw)),
        })
    }

    /// Whether there is nothing to know here.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Absent | Self::Null => true,
            Self::Text(text) => text.is_empty(),
            Self::Number(_) | Self::Boolean(_) | Self::Composite(_) => false,
        }
    }

    /// What it is, for people.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Absent => "missing",
            Self::Null => "null",
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::Composite(what) => what,
        }
    }
}

/// The text of a JSON string, borrowed where it has no escapes.
fn unescape(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    if !raw.as_bytes().contains(&b'\\') {
        let inner = raw.get(1..raw.len() - 1).unwrap_or_default();
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw).map(Cow::Owned)
}

/// The integer that a number's digits say, if it is whole and fits: `2` and `2.0` are the same, `2.5` is none.
pub(crate) fn integer(digits: &str) -> Option<i64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let zeros = !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0');
    if zeros { whole.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_or_none() {
        for (digits, integer_) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("2", Some(2)),
            ("2.0", Some(2)),
            ("2.000", Some(2)),
            ("2.5", None),
            ("2e0", None),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(i64::MIN)),
        ] {
            assert_eq!(integer(digits), integer_, "{digits}");
        }
    }

    #[test]
    fn texts_are_unescaped_and_half_characters_refused() {
        let read = |raw| Leaf::read(Some(raw));
        assert_eq!(read(r#""ped\u005f1""#).unwrap(), Leaf::Text("ped_1".into()));
        assert_eq!(read(r#""\ud83d\ude00 \uD83D\uDE00""#).unwrap(), Leaf::Text("😀 😀".into()));
        assert_eq!(read(r#""C:\\u0000x""#).unwrap(), Leaf::Text(r"C:\u0000x".into()));
        assert_eq!(read(r#""""#).unwrap(), Leaf::Text("".into()));
        assert!(read(r#""\ud83d""#).is_err());
    }
}
