//! Compact tables: ruled on a terminal, plain columns elsewhere.

use std::io::IsTerminal as _;

use comfy_table::{ContentArrangement, Table, presets};

use crate::words::one_line;

/// A table with these headings; no line at all when there are no rows.
pub(crate) fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    let ruled = std::io::stdout().is_terminal();
    table.load_style(if ruled { presets::UTF8_HORIZONTAL_ONLY } else { presets::NOTHING });
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings.iter().map(|heading| heading.to_uppercase()));
    let mut empty = true;
    for row in rows {
        empty = false;
        table.add_row(row.into_iter().map(|cell| one_line(&cell)));
    }
    if empty {
        return String::new();
    }
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    lines.concat()
}
