//! XML answers as JSON, so that paths lead through them as through any other.
//!
//! An element with others in it is an object, one with nothing but text is that text, and elements of one name beside
//! each other are a list; `@name` is an attribute, `#text` the text of an element that has more than text. All values are
//! texts. A document type is refused: nothing is ever looked up or expanded.

use std::borrow::Cow;

use quick_xml::{
    XmlVersion,
    events::{BytesStart, Event},
    reader::Reader,
};
use serde_json::{Map, Value, map::Entry};

use crate::document::{NESTING_MAX, Unreadable};

/// Where an XML declaration may say the charset.
const DECLARATION_BYTES_MAX: usize = 256;

/// The document as the text of a JSON object with one key: its root.
pub(crate) fn json(bytes: &[u8]) -> Result<String, Unreadable> {
    let text = decoded(bytes)?;
    let mut reader = Reader::from_str(&text);
    let mut open = vec![Element::default()];
    loop {
        let event = reader.read_event().map_err(|error| unreadable(&error.to_string()))?;
        match event {
            Event::Start(start) if open.len() > NESTING_MAX => {
                drop(start);
                return Err(Unreadable::TooDeep);
            }
            Event::Start(start) => open.push(Element::start(&start)?),
            Event::Empty(start) => close(&mut open, Element::start(&start)?)?,
            Event::End(_) => match open.pop() {
                Some(element) => close(&mut open, element)?,
                None => return Err(unreadable("an element ends that never began")),
            },
            Event::Text(text) => add(&mut open, &text.xml10_content()),
            Event::CData(text) => add(&mut open, &text.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(letter)) => add(&mut open, letter.encode_utf8(&mut [0; 4])),
                Ok(None) => add(&mut open, predefined(&name)?),
                Err(error) => return Err(unreadable(&error.to_string())),
            },
            Event::DocType(_) => return Err(unreadable("it has a document type")),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(root), true) if root.members.len() == 1 => Ok(Value::Object(root.members).to_string()),
        (Some(_), true) => Err(unreadable("it has not one root")),
        _ => Err(unreadable("an element does not end")),
    }
}

/// An element that is being read.
#[derive(Default)]
struct Element {
    name: String,
    members: Map<String, Value>,
    text: String,
}

impl Element {
    fn start(start: &BytesStart<'_>) -> Result<Self, Unreadable> {
        let mut members = Map::new();
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| unreadable(&error.to_string()))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| unreadable(&error.to_string()))?.into_owned();
            let key = format!("@{}", attribute.key.as_ref());
            if members.insert(key, Value::String(value)).is_some() {
                return Err(unreadable("an attribute is repeated"));
            }
        }
        Ok(Self { name: start.name().as_ref().to_owned(), members, text: String::new() })
    }

    fn value(mut self) -> Value {
        let text = self.text.trim();
        if self.members.is_empty() {
            return Value::String(text.to_owned());
        }
        if !text.is_empty() {
            self.members.insert("#text".to_owned(), Value::String(text.to_owned()));
        }
        Value::Object(self.members)
    }
}

/// Puts an element into the one around it.
fn close(open: &mut [Element], mut element: Element) -> Result<(), Unreadable> {
    let Some(parent) = open.last_mut() else { return Err(unreadable("an element ends that never began")) };
    let name = std::mem::take(&mut element.name);
    match parent.members.entry(name) {
        Entry::Vacant(place) => _ = place.insert(element.value()),
        Entry::Occupied(mut place) => match place.get_mut() {
            Value::Array(all) => all.push(element.value()),
            first => *first = Value::Array(vec![first.take(), element.value()]),
        },
    }
    Ok(())
}

fn add(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn predefined(name: &str) -> Result<&'static str, Unreadable> {
    match name {
        "lt" => Ok("<"),
        "gt" => Ok(">"),
        "amp" => Ok("&"),
        "apos" => Ok("'"),
        "quot" => Ok("\""),
        _ => Err(unreadable("it names an entity that XML does not define")),
    }
}

/// The text: in the charset that its mark or its declaration says, else in UTF-8.
fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    let charset = match encoding_rs::Encoding::for_bom(bytes) {
        Some((charset, _)) => charset,
        None => declared(bytes)?.unwrap_or(encoding_rs::UTF_8),
    };
    let (text, _, is_broken) = charset.decode(bytes);
    if is_broken { Err(unreadable(&format!("it is not {}", charset.name()))) } else { Ok(text) }
}

/// The charset of `<?xml version="1.0" encoding="…"?>`.
fn declared(bytes: &[u8]) -> Result<Option<&'static encoding_rs::Encoding>, Unreadable> {
    let start = String::from_utf8_lossy(bytes.get(..DECLARATION_BYTES_MAX).unwrap_or(bytes));
    let declaration = start.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split("?>").next());
    let Some((_, said)) = declaration.and_then(|rest| rest.split_once("encoding")) else { return Ok(None) };
    let said = said.trim_start().strip_prefix('=').unwrap_or(said).trim_start();
    let name = said.get(1..).and_then(|rest| rest.split(['"', '\'']).next()).unwrap_or_default();
    match encoding_rs::Encoding::for_label(name.as_bytes()) {
        Some(charset) => Ok(Some(charset)),
        None => Err(unreadable("it is in an unknown charset")),
    }
}

fn unreadable(reason: &str) -> Unreadable {
    Unreadable::Xml(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read(text: &str) -> Value {
        serde_json::from_str(&super::json(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn elements_are_objects_texts_and_lists() {
        let text = "<?xml version=\"1.0\"?><!-- a --><a x=\"1 &amp; 2\"><b>1</b><b> 2 </b><c/><d y='z'>&lt;&#65;<![CDATA[<&]]></d></a>";
        assert_eq!(
            read(text),
            json!({"a": {"@x": "1 & 2", "b": ["1", "2"], "c": "", "d": {"@y": "z", "#text": "<A<&"}}})
        );
    }

    #[test]
    fn the_declaration_says_the_charset() {
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><n>Jos\xe9</n>";
        assert_eq!(super::json(latin).unwrap(), r#"{"n":"José"}"#);
        assert_eq!(super::json("\u{feff}<n>José</n>".as_bytes()).unwrap(), r#"{"n":"José"}"#);
    }

    #[test]
    fn what_is_no_plain_document_is_refused() {
        let deep = "<a>".repeat(200) + &"</a>".repeat(200);
        let refused = [
            "",
            "x",
            "{}",
            "<a>",
            "<a></b>",
            "</a>",
            "<a/><b/>",
            "<a x='1' x='2'/>",
            "<a>&b;</a>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            "<?xml version='1.0' encoding='klingon'?><a/>",
            &deep,
        ];
        for text in refused {
            assert!(super::json(text.as_bytes()).is_err(), "{text}");
        }
        assert!(super::json(b"<a>\xe9</a>").is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail_otherwise_than_with_a_reason(bytes in any::<Vec<u8>>(), text in "[<>a/&;!\\[\\]?=' x#1-]{0,60}") {
            for bytes in [&bytes[..], text.as_bytes()] {
                if let Ok(json) = super::json(bytes) {
                    prop_assert!(serde_json::from_str::<Value>(&json).unwrap().is_object());
                }
            }
        }
    }
}
