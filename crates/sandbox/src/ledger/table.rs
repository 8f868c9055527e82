//! The short table at the end of a run.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets::UTF8_BORDERS_ONLY};

use crate::ledger::Ledger;

/// Differences that are listed; the rest is counted.
const LISTED_MAX: usize = 20;

/// The ledger as text: a table, then the first differences.
pub fn render(ledger: &Ledger) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    for (name, value) in rows(ledger) {
        table.add_row([name.to_owned(), value]);
    }
    if let Some(values) = table.column_mut(1) {
        values.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{table}\n");
    for difference in ledger.differences.iter().take(LISTED_MAX) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {difference}");
    }
    let more = ledger.differences.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        let _ = writeln!(text, "  … and {more} more");
    }
    text
}

fn rows(ledger: &Ledger) -> Vec<(&'static str, String)> {
    let equal = format!("{} of {}", ledger.orders_equal, ledger.orders);
    vec![
        ("orders equal to the store's truth", equal),
        ("events accepted", ledger.events_accepted.to_string()),
        ("events lost", ledger.events_lost.to_string()),
        ("effects delivered", ledger.effects_delivered.to_string()),
        ("effects missing", ledger.effects_missing.to_string()),
        ("effects doubled", ledger.effects_doubled.to_string()),
        ("effects unexpected", ledger.effects_unexpected.to_string()),
        ("webhooks never sent", ledger.never_sent.to_string()),
        ("recovered by the reconciler", ledger.recovered.to_string()),
        ("repeated calls, done once", ledger.repeated_calls.to_string()),
        ("receive latency p50", format!("{:.1} ms", ledger.receive_p50_ms)),
        ("receive latency p99", format!("{:.1} ms", ledger.receive_p99_ms)),
        ("events per second", format!("{:.0}", ledger.events_per_s)),
        ("differences", ledger.differences.len().to_string()),
    ]
}
