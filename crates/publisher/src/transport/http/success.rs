//! What a destination's answer must say, besides a status of success, where its settings ask for it.

use serde_json::Value;
use service::settings::{Said, SuccessRule};

/// Whether the answer says what it must. One that is empty, cut off or no JSON says nothing.
pub(super) fn is_told(rule: &SuccessRule, body: &[u8]) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return false };
    let found = rule.field.split('.').try_fold(&body, |value, key| value.get(key));
    match (found, &rule.equals) {
        (Some(Value::Bool(found)), Said::Bool(wanted)) => found == wanted,
        (Some(Value::Number(found)), Said::Number(wanted)) => found.as_i64() == Some(*wanted),
        (Some(Value::String(found)), Said::Text(wanted)) => found == wanted,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(field: &str, equals: Said, body: &str) -> bool {
        is_told(&SuccessRule { field: field.to_owned(), equals }, body.as_bytes())
    }

    #[test]
    fn only_the_very_value_at_the_very_place_is_success() {
        assert!(told("ok", Said::Bool(true), r#"{"ok":true}"#));
        assert!(told("result.code", Said::Number(0), r#"{"result":{"code":0}}"#));
        assert!(told("status", Said::Text("done".to_owned()), r#"{"status":"done"}"#));
        for body in
            ["", "ok", "[]", "{}", r#"{"ok":false}"#, r#"{"ok":"true"}"#, r#"{"ok":1}"#, r#"{"ok":tr"#]
        {
            assert!(!told("ok", Said::Bool(true), body), "{body}");
        }
    }
}
