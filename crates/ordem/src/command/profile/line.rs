//! On which line of a file a dotted key stands.

use toml::de::{DeTable, DeValue};

/// The line of the key, or of the longest beginning of it that is there.
pub(crate) fn of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let start = find(document.get_ref(), key)?;
    text.get(..start).map(|before| before.matches('\n').count() + 1)
}

/// Keys may hold dots themselves, so each key of a table is compared as a whole.
fn find(table: &DeTable<'_>, key: &str) -> Option<usize> {
    table.iter().find_map(|(name, value)| {
        let rest = key.strip_prefix(name.get_ref().as_ref())?;
        if !(rest.is_empty() || rest.starts_with(['.', '['])) {
            return None;
        }
        let deeper = match (value.get_ref(), rest.strip_prefix('.')) {
            (DeValue::Table(inner), Some(rest)) => find(inner, rest),
            _ => None,
        };
        Some(deeper.unwrap_or(name.span().start))
    })
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_key_is_found_wherever_it_stands() {
        let text = "name = \"x\"\n[event]\nkind = \"order\"\n[event.status]\n\"a.b\" = \"c\"\n";
        for (key, line) in [
            ("name", Some(1)),
            ("event.kind", Some(3)),
            ("event.status.a.b", Some(5)),
            ("event.status.missing", Some(4)),
            ("events", None),
        ] {
            assert_eq!(of(text, key), line, "{key}");
        }
    }
}
