//! From a body's bytes to JSON documents that are safe to read.

use serde::Deserializer as _;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::shape::Shape;

/// Most events read from one request; a longer list is stored whole.
pub const ELEMENTS_MAX: usize = 1000;

/// Deepest nesting of objects and lists that is read, anywhere in the body.
pub const NESTING_MAX: usize = 128;

/// Why bytes cannot be read as an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The bytes are no UTF-8 text.
    #[error("the body is not UTF-8 (byte {0})")]
    Charset(usize),
    /// Inflated, the body passes the limit.
    #[error("the body inflates to more than {0} bytes")]
    TooLarge(usize),
    /// The nesting passes [`NESTING_MAX`].
    #[error("the body is nested deeper than 128 levels")]
    TooDeep,
    /// The text is no JSON, or repeats a key that decides something.
    #[error("the body cannot be read: {0}")]
    Json(String),
    /// The text is no XML that is read here.
    #[error("the XML cannot be read: {0}")]
    Xml(String),
    /// The JSON is something else than an object or a list of events.
    #[error("the body is {0}, not an event")]
    NotAnEvent(&'static str),
    /// More elements than are read at once.
    #[error("the body holds a list of more than {0} elements")]
    TooMany(usize),
    /// A value that names or types the event cannot be used.
    #[error("{place} {reason}")]
    Identifier {
        /// Where the value stands.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a body holds.
pub(crate) enum Documents<'a> {
    /// One event: an object.
    One(&'a str),
    /// A list, with the text of each element.
    Many(Vec<&'a str>),
}

/// The body as text: UTF-8 throughout, without a byte order mark, not nested too deep.
pub(crate) fn text(body: &[u8]) -> Result<&str, Unreadable> {
    let text = std::str::from_utf8(body).map_err(|error| Unreadable::Charset(error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if nested_too_deep(text.as_bytes()) { Err(Unreadable::TooDeep) } else { Ok(text) }
}

/// Splits a body's text into its events.
pub(crate) fn split(text: &str) -> Result<Documents<'_>, Unreadable> {
    match first_letter(text) {
        Some(b'{') => Ok(Documents::One(text)),
        Some(b'[') => {
            let elements = elements(text, ELEMENTS_MAX)?;
            match elements.iter().any(|element| element.starts_with('{')) {
                true => Ok(Documents::Many(elements)),
                false if elements.is_empty() => Err(Unreadable::NotAnEvent("an empty list")),
                false => Err(Unreadable::NotAnEvent("a list without any object")),
            }
        }
        other => Err(Unreadable::NotAnEvent(describe(other))),
    }
}

/// Where the events stand in a request that holds several.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// A list below the request, a list below each of its elements, and so on.
    lists: Vec<Member>,
    /// The event below each element of the innermost list; the element itself without.
    event: Option<Member>,
}

/// One member of an object.
#[derive(Clone, Debug)]
struct Member {
    shape: Shape,
    slot: usize,
}

impl Split {
    /// `list`, `list[].inner`, `list[].list[].inner`.
    pub(crate) fn compile(path: &str) -> Result<Self, String> {
        let mut parts: Vec<&str> = path.split("[]").collect();
        let last = if parts.len() > 1 { parts.pop() } else { None };
        let below = |(at, part): (usize, &&str)| match part.strip_prefix('.') {
            Some(member) if at > 0 => Member::compile(member),
            None if at == 0 => Member::compile(part),
            _ => Err(format!("{path:?} goes on after [] without a dot")),
        };
        let lists = parts.iter().enumerate().map(below).collect::<Result<_, _>>()?;
        let event = last.filter(|last| !last.is_empty()).map(|last| below((1, &last))).transpose()?;
        Ok(Self { lists, event })
    }

    /// The text of each event; a request that lacks the list is one event.
    pub(crate) fn apply<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, Unreadable> {
        let mut events = vec![text];
        for list in &self.lists {
            let mut below = Vec::new();
            for event in events {
                match list.of(event)?.filter(|raw| *raw != "null") {
                    Some(raw) => below.extend(elements(raw, ELEMENTS_MAX)?),
                    // Nothing is lost of what has no list: it is an event itself.
                    None => below.push(event),
                }
                if below.len() > ELEMENTS_MAX {
                    return Err(Unreadable::TooMany(ELEMENTS_MAX));
                }
            }
            events = below;
        }
        if events.is_empty() {
            return Err(Unreadable::NotAnEvent("an empty list"));
        }
        match &self.event {
            None => Ok(events),
            Some(member) => events.into_iter().map(|event| Ok(member.of(event)?.unwrap_or(event))).collect(),
        }
    }
}

impl Member {
    fn compile(path: &str) -> Result<Self, String> {
        let mut shape = Shape::new();
        let slot = shape.slot(path)?;
        Ok(Self { shape, slot })
    }

    fn of<'a>(&self, text: &'a str) -> Result<Option<&'a str>, Unreadable> {
        Ok(self.shape.extract(text)?.raw(self.slot))
    }
}

/// The text of each element of a JSON list.
pub(crate) fn elements(text: &str, max: usize) -> Result<Vec<&str>, Unreadable> {
    let mut json = serde_json::Deserializer::from_str(text);
    let elements = json
        .deserialize_seq(Elements { max })
        .and_then(|elements| json.end().map(|()| elements))
        .map_err(|error| Unreadable::Json(error.to_string()))?;
    elements.ok_or(Unreadable::TooMany(max))
}

/// The first letter that is no blank.
pub(crate) fn first_letter(text: &str) -> Option<u8> {
    text.bytes().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// What a JSON text is, by its first letter.
pub(crate) fn describe(first: Option<u8>) -> &'static str {
    match first {
        None => "empty",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        Some(b'-' | b'0'..=b'9') => "a number",
        Some(_) => "no JSON",
    }
}

/// Whether objects and lists are nested deeper than [`NESTING_MAX`]; never recurses.
fn nested_too_deep(text: &[u8]) -> bool {
    // Few opening brackets cannot nest deep, and counting them is much cheaper than following strings.
    opening_brackets(text) > NESTING_MAX && nesting(text) > NESTING_MAX
}

/// How many `{` and `[` (which differ in one bit) there are, strings or not.
fn opening_brackets(text: &[u8]) -> usize {
    // Counting in bytes, in pieces too short to overflow one, is what the compiler turns into vector code.
    let count = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte | 0x20 == b'{')).sum::<u8>();
    text.chunks(usize::from(u8::MAX)).map(|piece| usize::from(count(piece))).sum()
}

/// The deepest nesting, with brackets inside strings left out.
fn nesting(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

/// Collects the raw text of each element; `None` when there are more than `max`.
struct Elements {
    max: usize,
}

impl<'de> Visitor<'de> for Elements {
    type Value = Option<Vec<&'de str>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() < self.max {
            match list.next_element::<&RawValue>()? {
                Some(element) => elements.push(element.get()),
                None => return Ok(Some(elements)),
            }
        }
        let mut more = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok((!more).then_some(elements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_counts_brackets_outside_strings_only() {
        for (text, depth) in [
            ("", 0),
            ("{}", 1),
            (r#"{"a":[{}]}"#, 3),
            (r#"{"a":"[[[[\"[[["}"#, 1),
            (r#"["\\",[]]"#, 2),
            ("]]]][", 1),
            ("\"[[", 0),
        ] {
            assert_eq!(nesting(text.as_bytes()), depth, "{text}");
        }
    }

    #[test]
    fn the_limit_itself_is_read_and_one_more_is_not() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(text(nested(NESTING_MAX).as_bytes()).is_ok());
        assert_eq!(text(nested(NESTING_MAX + 1).as_bytes()), Err(Unreadable::TooDeep));
        assert_eq!(text("[".repeat(1_000_000).as_bytes()), Err(Unreadable::TooDeep));
        let flat = format!("[{}1]", "[],".repeat(500));
        assert!(text(flat.as_bytes()).is_ok());
    }
}
