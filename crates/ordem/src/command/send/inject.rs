//! A text at a path of a JSON document, with everything else left as it is written.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The document with the text at a path such as `additionalData.hmacSignature` or `items[0].sign`.
///
/// What is there is replaced; what is missing on the way is made.
///
/// # Errors
/// The document is no JSON, or the path leads through something that holds nothing.
pub(crate) fn with_text_at(json: &str, path: &str, text: &str) -> Result<String, String> {
    let mut at: &RawValue = serde_json::from_str(json).map_err(|error| format!("the body: {error}"))?;
    let keys: Vec<&str> = path.split(['.', '[']).map(|key| key.trim_end_matches(']')).collect();
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    for (depth, key) in keys.iter().enumerate() {
        if let Some(next) = child(at, key) {
            at = next;
            continue;
        }
        let within = at.get().strip_prefix('{').ok_or_else(|| format!("the body has no place for {path}"))?;
        let rest = keys.get(depth..).unwrap_or_default().iter().rev();
        let member = rest.fold(quoted(text), |value, key| format!("{{{}:{value}}}", quoted(key)));
        // A whole object was made of the first key; its member goes in front of the others.
        let member = member.trim_start_matches('{').strip_suffix('}').unwrap_or_default();
        let comma = if within.trim_start().starts_with('}') { "" } else { "," };
        let start = offset(json, at) + 1;
        return Ok(format!("{}{member}{comma}{}", &json[..start], &json[start..]));
    }
    let (start, end) = (offset(json, at), offset(json, at) + at.get().len());
    Ok(format!("{}{}{}", &json[..start], quoted(text), &json[end..]))
}

/// Where a value that was borrowed from the document begins in it.
fn offset(json: &str, value: &RawValue) -> usize {
    value.get().as_ptr().addr() - json.as_ptr().addr()
}

fn child<'j>(value: &'j RawValue, key: &str) -> Option<&'j RawValue> {
    if value.get().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
        return items.get(key.parse::<usize>().ok()?).copied();
    }
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(value.get()).ok()?;
    members.get(key).copied()
}

#[cfg(test)]
mod tests {
    use super::with_text_at;

    #[test]
    fn a_text_is_put_in_and_nothing_else_is_written_anew() {
        for (json, path, expected) in [
            (r#"{ "a" : 1.10 }"#, "s", r#"{"s":"x", "a" : 1.10 }"#),
            (r#"{ "a" : 1.10, "s":"old" }"#, "s", r#"{ "a" : 1.10, "s":"x" }"#),
            (r#"{ }"#, "d.s", r#"{"d":{"s":"x"} }"#),
            (r#"{"d":{"k":[ 1 ]}}"#, "d.s.t", r#"{"d":{"s":{"t":"x"},"k":[ 1 ]}}"#),
            (r#"{"d":[{},{"s":null}]}"#, "d[1].s", r#"{"d":[{},{"s":"x"}]}"#),
        ] {
            assert_eq!(with_text_at(json, path, "x").as_deref(), Ok(expected), "{path} in {json}");
        }
        assert_eq!(with_text_at("{}", "s", "a\"b").as_deref(), Ok(r#"{"s":"a\"b"}"#));
        for (json, path) in
            [("[]", "s"), ("7", "s"), ("{\"a\":7}", "a.s"), ("{", "s"), ("{\"d\":[]}", "d[3]")]
        {
            assert!(with_text_at(json, path, "x").is_err(), "{path} in {json}");
        }
    }
}
