//! Single values out of a JSON body, for schemes that sign fields or carry the signature inside.

use serde_json::Value;

/// The text of the value at a dotted path: texts as they are, numbers and booleans as JSON writes them.
///
/// Nothing when the body is no JSON, the path leads nowhere, or to null, an object or a list.
pub(crate) fn text(body: &[u8], path: &str) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let value = path.split('.').try_fold(&document, |at, key| at.get(key))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Object(_) | Value::Array(_) => None,
    }
}
