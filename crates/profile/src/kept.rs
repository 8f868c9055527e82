//! The headers that are kept beside a body: a JSON object of name to text, or to a list of texts.

use serde_json::{Map, Value};

use crate::Profile;

/// Header lines that were kept with an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptHeaders {
    lines: Vec<(String, String)>,
}

impl KeptHeaders {
    /// Reads what [`Profile::keep`] wrote. Anything else has no lines.
    pub fn parse(kept: Option<&str>) -> Self {
        let object = kept.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let Value::Object(object) = object else { return Self::default() };
        Self { lines: object.into_iter().flat_map(|(name, value)| lines(&name, value)).collect() }
    }
}

impl signature::Headers for KeptHeaders {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        self.lines.for_each(name, visit);
    }
}

impl Profile {
    /// The headers to keep of a request, as text; nothing when none of them came.
    ///
    /// What is no UTF-8 is replaced and NUL is left out: neither can be stored, and neither belongs into a header.
    pub fn keep(&self, headers: &dyn signature::Headers) -> Option<String> {
        let mut object = Map::new();
        for name in self.kept_headers() {
            let mut values = Vec::new();
            headers.for_each(name, &mut |value| {
                if name == "content-type"
                    && !self.decoding.needs_content_type(&String::from_utf8_lossy(value))
                {
                    return;
                }
                values.push(Value::String(String::from_utf8_lossy(value).replace('\0', "")));
            });
            let value = match values.len() {
                0 => continue,
                1 => values.swap_remove(0),
                _ => Value::Array(values),
            };
            object.insert(name.clone(), value);
        }
        (!object.is_empty()).then(|| Value::Object(object).to_string())
    }
}

fn lines(name: &str, value: Value) -> Vec<(String, String)> {
    let values = match value {
        Value::Array(values) => values,
        single => vec![single],
    };
    let line = |value| match value {
        Value::String(text) => Some((name.to_owned(), text)),
        _ => None,
    };
    values.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_came_twice_gives_two_lines() {
        let kept = KeptHeaders::parse(Some(r#"{"a":"1","b":["2","3"],"c":4}"#));
        let lines: Vec<_> = kept.lines.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(lines, ["a=1", "b=2", "b=3"]);
        assert_eq!(KeptHeaders::parse(Some("no json")), KeptHeaders::default());
        assert_eq!(KeptHeaders::parse(None), KeptHeaders::default());
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let profile = Profile::parse("loja", include_str!("../../../profiles/loja.toml")).unwrap();
        let headers = [("X-Loja-Signature", "sha256=00"), ("x-loja-signature", "11"), ("cookie", "secret")];
        let kept = profile.keep(&headers).unwrap();
        assert_eq!(kept, r#"{"x-loja-signature":["sha256=00","11"]}"#);
        assert_eq!(KeptHeaders::parse(Some(&kept)).lines.len(), 2);
        assert_eq!(profile.keep(&()), None);
    }
}
