//! The headers kept beside a body, as the receiver stores them: a JSON object of name to text, or list of texts.

use serde_json::Value;

/// The header lines; none when the text is no such object.
pub(crate) fn parse(kept: Option<&str>) -> Vec<(String, String)> {
    let object = kept.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let Value::Object(object) = object else { return Vec::new() };
    object.into_iter().flat_map(|(name, value)| lines(&name, value)).collect()
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
    use super::parse;

    #[test]
    fn a_header_that_came_twice_gives_two_lines() {
        let lines = parse(Some(r#"{"a":"1","b":["2","3"],"c":4}"#));
        let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(lines, ["a=1", "b=2", "b=3"]);
        assert!(parse(Some("no json")).is_empty());
        assert!(parse(None).is_empty());
    }
}
