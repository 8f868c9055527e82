//! Headers of a request, for the signature and for keeping.

use actix_web::http::header::HeaderMap;
use serde_json::{Map, Value};
use signature::Headers;

/// A request's headers as the signature crate wants them.
pub(crate) struct RequestHeaders<'a>(pub(crate) &'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn for_each(&self, name: &str, visit: &mut dyn FnMut(&[u8])) {
        for value in self.0.get_all(name) {
            visit(value.as_bytes());
        }
    }
}

/// The named headers as a JSON object: a text, or a list of texts where a header came several times.
pub(crate) fn kept(headers: &HeaderMap, names: &[String]) -> Option<String> {
    let mut object = Map::new();
    for name in names {
        let mut values = headers.get_all(name.as_str()).map(text);
        let Some(first) = values.next() else { continue };
        let rest: Vec<Value> = values.collect();
        let value = if rest.is_empty() { first } else { std::iter::once(first).chain(rest).collect() };
        object.insert(name.clone(), value);
    }
    (!object.is_empty()).then(|| Value::Object(object).to_string())
}

/// NUL cannot be stored as text; it never belongs into a header's value.
fn text(value: &actix_web::http::header::HeaderValue) -> Value {
    Value::String(String::from_utf8_lossy(value.as_bytes()).replace('\0', ""))
}
