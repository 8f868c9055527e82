//! On which line of a file a dotted key stands.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The line of the key, or of the longest beginning of it that is there.
pub(crate) fn of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let start = find(document.get_ref(), key)?;
    text.get(..start).map(|before| before.matches('\n').count() + 1)
}

/// Where a value of this text stands: its dotted key and its line. Of several the first in the file.
pub(crate) fn of_value(text: &str, wanted: &str) -> Option<(String, usize)> {
    let document = DeTable::parse(text).ok()?;
    let (key, start) = in_table(document.get_ref(), "", wanted)?;
    text.get(..start).map(|before| (key, before.matches('\n').count() + 1))
}

fn in_table(table: &DeTable<'_>, above: &str, wanted: &str) -> Option<(String, usize)> {
    let found = table.iter().filter_map(|(name, value)| {
        let name = name.get_ref().as_ref();
        let key = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        in_value(value, key, wanted)
    });
    found.min_by_key(|(_, start)| *start)
}

fn in_value(value: &Spanned<DeValue<'_>>, key: String, wanted: &str) -> Option<(String, usize)> {
    match value.get_ref() {
        DeValue::String(text) if text.as_ref() == wanted => Some((key, value.span().start)),
        DeValue::Table(inner) => in_table(inner, &key, wanted),
        DeValue::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| in_value(item, format!("{key}[{at}]"), wanted))
        }
        _ => None,
    }
}

/// Keys may hold dots themselves, so each key of a table is compared as a whole.
fn find(table: &DeTable<'_>, key: &str) -> Option<usize> {
    table.iter().find_map(|(name, value)| {
        let rest = key.strip_prefix(name.get_ref().as_ref())?;
        if !(rest.is_empty() || rest.starts_with(['.', '['])) {
            return None;
        }
        Some(below(value, rest).unwrap_or(name.span().start))
    })
}

/// Where what follows a key stands: `.name` in a table, `[number]` in an array.
fn below(value: &Spanned<DeValue<'_>>, rest: &str) -> Option<usize> {
    match value.get_ref() {
        DeValue::Table(inner) => find(inner, rest.strip_prefix('.')?),
        DeValue::Array(items) => {
            let (at, rest) = rest.strip_prefix('[')?.split_once(']')?;
            let item = items.get(at.parse::<usize>().ok()?)?;
            Some(below(item, rest).unwrap_or(item.span().start))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{of, of_value};

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

    #[test]
    fn so_is_what_stands_in_a_list_of_tables() {
        let text = "[event]\nkind = \"order\"\n[[event.rules]]\ntypes = [\"a\"]\n[[event.rules]]\ntypes = [\"b\"]\nstatus = \"payd\"\n";
        assert_eq!(of(text, "event.rules[1].status"), Some(7));
        assert_eq!(of(text, "event.rules[1].kind"), Some(5));
        assert_eq!(of_value(text, "payd"), Some(("event.rules[1].status".to_owned(), 7)));
        assert_eq!(of_value(text, "b"), Some(("event.rules[1].types[0]".to_owned(), 6)));
        assert_eq!(of_value(text, "c"), None);
    }
}
